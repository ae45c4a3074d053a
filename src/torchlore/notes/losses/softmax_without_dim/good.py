import warnings

import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")


def attention(query, key, value):
    scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    weights = F.softmax(scores, dim=-1)
    return weights @ value


batch = torch.randn(4, 6, 8)
alone = attention(batch[:1], batch[:1], batch[:1])
together = attention(batch, batch, batch)[:1]

result = {"depends_on_neighbours": (alone - together).abs().max().item()}
