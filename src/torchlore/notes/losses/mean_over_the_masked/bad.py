import torch

lengths = torch.tensor([10, 9, 8])
padding = torch.arange(10) >= lengths[:, None]  # True where there is nothing


def masked_mean(loss, mask):
    loss = loss.masked_fill(mask, 0.0)
    count = mask.sum(dim=-1).clamp(min=1)  # trap: mean-over-the-masked
    return (loss.sum(dim=-1) / count).mean()


result = {"mean_of_ones": masked_mean(torch.ones(3, 10), padding).item()}
