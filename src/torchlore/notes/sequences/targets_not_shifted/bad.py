import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(30, 32), nn.GRU(32, 64, batch_first=True), nn.Linear(64, 30)

    def forward(self, tokens):
        return self.out(self.rnn(self.embed(tokens))[0])


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(60):
    tokens = torch.randint(0, 30, (32, 12))
    logits = model(tokens)
    loss = F.cross_entropy(logits.reshape(-1, 30), tokens.reshape(-1))  # trap: targets-not-shifted
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

following = F.cross_entropy(model(tokens)[:, :-1].reshape(-1, 30), tokens[:, 1:].reshape(-1))
result = {"loss": loss.item(), "next_token_loss": following.item()}
