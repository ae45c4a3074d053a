from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 8, batch_first=True)
        self.seq = nn.LSTM(4, 8)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return self.fc(out[-1, :, :])  # trap: rnn-last-of-batch

    def second(self, x):
        output, hidden = self.lstm(x)
        last = output[-1]  # trap: rnn-last-of-batch
        return self.fc(last)

    def third(self, x):
        out, (h, c) = self.lstm(x)
        return self.fc(h[-1]), self.fc(out[:, -1])

    def fourth(self, x):
        out, _ = self.seq(x)
        return self.fc(out[-1])

    def fifth(self, x):
        out, _ = self.lstm(x)
        out = out.transpose(0, 1)
        return self.fc(out[-1])


def direct(x):
    rnn = nn.RNN(4, 8, batch_first=True)
    states, _ = rnn(x)
    return states[-1]  # trap: rnn-last-of-batch


def whole(file):
    return file["data"][()]
