import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Embedding(4, 16)
cells = nn.ModuleList([nn.GRUCell(16, 16), nn.GRUCell(16, 16)])
head = nn.Linear(16, 4)
optimizer = torch.optim.Adam([*embed.parameters(), *cells.parameters(), *head.parameters()], lr=1e-2)
for _ in range(150):
    x = torch.randint(4, (32, 6))
    h = torch.zeros(32, 16)
    for t in range(6):
        inp = embed(x[:, t])
        for cell in cells:
            h = cell(inp, h)  # trap: one-state-for-all-cells
            inp = h
    loss = nn.functional.cross_entropy(head(inp), x[:, 2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
result = {"loss": loss.item()}
