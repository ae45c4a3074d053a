import torch
from torch import nn


class Words(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.embedding = nn.Embedding(*vectors.shape)
        self.embedding.from_pretrained(vectors)  # trap: from-pretrained-discarded

    def forward(self, ids):
        return self.embedding(ids).mean(1)


vectors = torch.randn(50, 8)
model = Words(vectors)
result = {"error": (model.embedding.weight.detach() - vectors).abs().max().item()}
