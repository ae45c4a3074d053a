import torch
from torch import nn


class Words(nn.Module):
    def __init__(self, vectors: torch.Tensor) -> None:
        super().__init__()
        self.embedding = nn.Embedding(*vectors.shape)
        self.embedding = self.embedding.from_pretrained(vectors)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.embedding(ids).mean(1)


vectors = torch.randn(50, 8)
model = Words(vectors)
result = {"error": (model.embedding.weight.detach() - vectors).abs().max().item()}
