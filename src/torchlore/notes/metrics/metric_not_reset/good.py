import torch
from torchmetrics.classification import MulticlassAccuracy

labels = torch.tensor([0, 1, 1, 0])
answers = [1 - labels, labels]  # the first epoch is all wrong, the second all right
accuracy = MulticlassAccuracy(num_classes=2)

for epoch in range(2):
    with torch.no_grad():
        for part in (slice(0, 2), slice(2, 4)):
            accuracy.update(answers[epoch][part], labels[part])
    last = accuracy.compute().item()
    accuracy.reset()

result = {"last": last}
