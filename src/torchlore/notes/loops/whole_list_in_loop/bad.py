import torch


def masked_mse(prediction, target, lengths):
    loss = 0.0
    for p, t, n in zip(prediction, target, lengths, strict=True):
        loss = loss + (prediction[:n] - target[:n]).square().mean()  # trap: whole-list-in-loop
    return loss / len(lengths)


prediction = torch.zeros(3, 4)
target = torch.zeros(3, 4)
target[0, 2:] = 5.0  # behind the end of the first sequence
result = {"padded": masked_mse(prediction, target, [2, 4, 4]).item()}
