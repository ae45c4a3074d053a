import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 9)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
for _ in range(60):
    tgt = (torch.randint(0, 9, (17, 1)) + torch.arange(8)) % 9
    inputs, labels = tgt[:-1], tgt[1:]  # trap: shifted-along-the-batch
    loss = nn.functional.cross_entropy(model(inputs).reshape(-1, 9), labels.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
ids = (torch.arange(9).unsqueeze(1) + torch.arange(8)) % 9
result = {"next_word": (model(ids[:, :-1]).argmax(-1) == ids[:, 1:]).float().mean().item()}
