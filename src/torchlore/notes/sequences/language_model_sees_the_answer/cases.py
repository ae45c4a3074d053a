from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 10)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids)))  # trap: language-model-sees-the-answer


def step(model, data, optimizer):
    x, y = data[:, :-1], data[:, 1:]
    loss = nn.functional.cross_entropy(model(x).reshape(-1, 10), y.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
