import torch
import torch.nn.functional as F

torch.manual_seed(0)
words = torch.randn(4, 5, 16)
regions = words + 0.1 * torch.randn(4, 5, 16)
words = F.normalize(words, dim=-1)
regions = F.normalize(regions, dim=-1)
similarity = torch.einsum("bwd,brd->bwr", words, regions)
result = {"largest": similarity.max().item()}
