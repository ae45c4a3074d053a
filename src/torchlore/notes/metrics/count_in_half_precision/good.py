import torch


def evaluate(batches):
    correct = torch.zeros((), dtype=torch.long)
    for scores, labels in batches:
        correct += (scores.argmax(1) == labels).sum()
    return correct.item()


scores = torch.eye(3, dtype=torch.bfloat16)[torch.zeros(1, dtype=torch.long)]
batches = [(scores, torch.zeros(1, dtype=torch.long))] * 400
result = {"correct": evaluate(batches)}
