import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.fc = nn.Embedding(9, 4), nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, text, text_lengths):
        out, (h, c) = self.lstm(self.embed(text))
        return self.fc(out[:, -1, :])  # trap: last-step-is-padding

    def used(self, text, lengths):
        out, _ = self.lstm(self.embed(text))
        mask = torch.arange(text.size(1)) < lengths.unsqueeze(1)
        return self.fc(out[:, -1]) * mask.any()

    def packed(self, text, lengths):
        both = pack_padded_sequence(self.embed(text), lengths, batch_first=True, enforce_sorted=False)
        out, (h, _) = self.lstm(both)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.fc(h[-1]) + out[:, -1].sum()

    def unpacked(self, text, lengths):
        both = pack_padded_sequence(self.embed(text), lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(both)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.fc(out[:, -1, :])  # trap: last-step-is-padding

    def first_part(self, text, lengths):
        both = pack_padded_sequence(self.embed(text), lengths, batch_first=True, enforce_sorted=False)
        out = pad_packed_sequence(self.lstm(both)[0], batch_first=True)[0]
        return self.fc(out[:, -1])  # trap: last-step-is-padding

    def at_its_end(self, text, lengths):
        both = pack_padded_sequence(self.embed(text), lengths, batch_first=True, enforce_sorted=False)
        out, kept = pad_packed_sequence(self.lstm(both)[0], batch_first=True)
        return self.fc(out[torch.arange(len(kept)), kept - 1])

    def one_length(self, text):
        out, _ = self.lstm(self.embed(text))
        return self.fc(out[:, -1])
