import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(30, 24), nn.GRU(24, 24), nn.Linear(24, 4)

    def forward(self, words):
        states, _ = self.rnn(self.embed(words).transpose(0, 1))
        return self.out(states)


def batch():
    words = torch.randint(0, 30, (16, 10))
    return words, words % 4


torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(60):
    words, tags = batch()
    scores = model(words)
    loss = nn.functional.cross_entropy(scores.view(-1, 4), tags.view(-1))  # trap: flattened-in-another-order
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"accuracy": (scores.transpose(0, 1).argmax(dim=2) == tags).float().mean().item()}
