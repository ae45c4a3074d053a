import torch


def rate(epoch: int) -> float:
    if epoch < 50:
        lr = 1e-4 * (epoch // 5 + 1)
    elif epoch < 200:
        lr = 1e-3
    else:
        lr = 1e-4
    return lr


optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1e-4)
error = ""
for epoch in range(310):
    try:
        lr = rate(epoch)
    except UnboundLocalError as caught:
        error = type(caught).__name__
        break
    for group in optimizer.param_groups:
        group["lr"] = lr

result = {"error": error, "last": optimizer.param_groups[0]["lr"]}
