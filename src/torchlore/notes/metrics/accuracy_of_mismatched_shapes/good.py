import torch

scores = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])
labels = torch.tensor([[0], [1], [0], [1]])

prediction = torch.argmax(scores, dim=1)
num_correct = torch.sum(prediction == labels.squeeze(1)).item()
accuracy = num_correct / labels.size(0)
result = {"accuracy": accuracy}
