import torch


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, target):
        gap = x - target
        ctx.save_for_backward(gap)
        return gap.pow(2).mean()

    @staticmethod
    def backward(ctx, grad):
        (gap,) = ctx.saved_tensors
        return grad * 2 * gap / gap.numel(), None


def slope(weight):
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    (weight * Squared.apply(x, torch.zeros(2))).backward()
    return x.grad[1].item()


result = {"plain": slope(1.0), "weighted": slope(0.1)}
