import torch

old_logp = torch.tensor([-1.0, -1.0, -1.0])
new_logp = torch.tensor([-0.9, -1.1, -1.0])
advantage = torch.tensor([1.0, 0.5, -2.0])
ratio = torch.exp(new_logp - old_logp)
plain = ratio * advantage
clipped = torch.clamp(ratio, 1 - 0.2, 1 + 0.2) * advantage
result = {"worst": clipped[2].item(), "loss": -torch.min(plain, clipped).mean().item()}
