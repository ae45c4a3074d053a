import torch

MASK = 1


def mask_tokens(inputs, share=0.3):
    labels = inputs  # trap: second-name-is-no-copy
    masked = torch.bernoulli(torch.full(labels.shape, share)).bool()
    inputs[masked] = MASK
    return inputs, labels, masked


torch.manual_seed(0)
inputs, labels, masked = mask_tokens(torch.randint(2, 20, (8, 12)))
result = {"labels_masked": (labels[masked] == MASK).float().mean().item()}
