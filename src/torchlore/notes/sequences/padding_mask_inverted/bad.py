import torch
from torch import nn

PAD = 0
embed = nn.Embedding(20, 8)
layer = nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=16, dropout=0.0, batch_first=True)
encoder = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)

ids = torch.randint(1, 20, (4, 10))
lengths = torch.tensor([3, 5, 7, 9])
valid = torch.arange(10)[None] < lengths[:, None]
ids[~valid] = PAD


def encode(ids):
    return encoder(embed(ids), src_key_padding_mask=valid)[:, 0]  # trap: padding-mask-inverted


other = torch.where(valid, ids, torch.randint(1, 20, ids.shape))  # only the padding differs
result = {"depends_on_padding": (encode(ids) - encode(other)).abs().max().item()}
