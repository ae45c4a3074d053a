import torch
import torch.nn as nn
from torch.nn.functional import cross_entropy, softmax

last = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=1))  # trap: softmax-before-cross-entropy


class Head(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc1 = nn.Linear(4, hidden)
        self.fc2 = nn.Linear(hidden, 3)
        self.softmax = nn.Softmax(-1)  # trap: softmax-before-cross-entropy

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = self.fc2(x)
        out = self.softmax(x)
        return out


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        logits = self.fc(x)
        if self.training:
            return logits
        return torch.softmax(logits, 1)


def train(model, x, y):
    return cross_entropy(model(x), y)


def probabilities(model, x):
    return softmax(model(x), 1)  # trap: softmax-before-cross-entropy


x, y = torch.randn(5, 4), torch.randint(3, (5,))
plain = nn.Linear(4, 3)
head = Head(8)
ce = nn.CrossEntropyLoss(label_smoothing=0.1)
total = train(last, x, y) + ce(head(x), y) + cross_entropy(probabilities(plain, x), y)
total = total + ce(plain(x).softmax(1), y)  # trap: softmax-before-cross-entropy
fine = ce(plain(x), y) + cross_entropy(Both()(x), y)
read = plain(x).softmax(1).max()
mixed = cross_entropy(plain(x), torch.softmax(plain(x), 1))
attention = torch.softmax(x @ x.T, -1) @ x
also_fine = ce(plain(attention), y)
