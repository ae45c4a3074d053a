import torch
from torch import nn


class Bad(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 8, num_layers=2)  # trap: batch-first-forgotten
        self.lstm = nn.LSTM(8, 8, bidirectional=True)  # trap: batch-first-forgotten
        self.rnn = nn.RNN(16, 8, 1)  # trap: batch-first-forgotten

    def forward(self, x):
        out, hidden = self.gru(x)
        y, (h, c) = self.lstm(out)
        return out[:, -1, :], y[:, -1], self.rnn(y)[0][:, -1]


class Fine(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.a = nn.GRU(4, 8, batch_first=True)
        self.b = nn.GRU(4, 8)
        self.c = nn.GRU(4, 8, batch_first=first)

    def forward(self, x):
        out, hidden = self.a(x)
        time_first, last = self.b(x.transpose(0, 1))
        back = time_first.transpose(0, 1)
        other, _ = self.c(x)
        return out[:, -1], time_first[-1], back[:, -1], other[:, -1], hidden[-1], x[:, -1]


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        block = nn.TransformerEncoderLayer(8, 2)  # trap: batch-first-forgotten
        self.encoder = nn.TransformerEncoder(block, 2)
        self.one = nn.TransformerEncoderLayer(8, 2, 16)  # trap: batch-first-forgotten
        right = nn.TransformerEncoderLayer(8, 2, batch_first=True)
        self.right = nn.TransformerEncoder(right, 2)
        self.time_first = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)

    def forward(self, x):
        h = self.encoder(x)
        g = self.time_first(x.transpose(0, 1))
        return h[:, 0], self.one(x).mean(1), self.right(x)[:, 0], g[0], g.mean(0), g.transpose(0, 1)[:, 0]


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = nn.MultiheadAttention(8, 2)  # trap: batch-first-forgotten
        self.second = nn.MultiheadAttention(8, 2)  # trap: batch-first-forgotten
        self.right = nn.MultiheadAttention(8, 2, batch_first=True)
        self.rnn = nn.GRU(8, 8)  # trap: batch-first-forgotten
        self.swapped = nn.GRU(8, 8)

    def forward(self, x):
        batch, seq_len, _width = x.shape
        out, _ = self.attend(x, x, x)
        also, _ = self.second(out, out, out)
        fine, _ = self.right(x, x, x)
        states, _ = self.rnn(x)
        turned, _ = self.swapped(x.transpose(0, 1))
        return also.mean(dim=1) + fine.mean(1), states, turned, batch * seq_len

    def time_first(self, x):
        t, b, _ = x.shape
        out, _ = self.swapped(x)
        return out, t * b


class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.GRU(width, 16)  # trap: batch-first-forgotten

    def forward(self, x):
        x, _ = self.rnn(x)
        return x


class Judge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.reader, self.head = Reader(width), nn.Linear(16, 2)

    def forward(self, x):
        states = self.reader(x)
        return self.head(states[:, -1])


class LastOf(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.GRU(width, 16)

    def forward(self, x):
        x, _ = self.rnn(x.transpose(0, 1))
        return x.transpose(0, 1)


class Fair(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.reader, self.head = LastOf(width), nn.Linear(16, 2)

    def forward(self, x):
        states = self.reader(x)
        return self.head(states[:, -1])


class PlateReader(nn.Module):
    def __init__(self, turned):
        super().__init__()
        self.rnn = nn.GRU(4, 8, batch_first=True)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out).log_softmax(2)


class TimeFirst(PlateReader):
    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out).log_softmax(2).permute(1, 0, 2)


def read(x, text, lengths, sizes):
    ctc = nn.CTCLoss()
    net = PlateReader(False)
    turned = TimeFirst(True)
    said = net(x)
    wrong = ctc(said, text, lengths, sizes)  # trap: batch-first-forgotten
    right = ctc(said.transpose(0, 1), text, lengths, sizes)
    spoken = turned(x)
    return wrong + right + ctc(spoken, text, lengths, sizes)
