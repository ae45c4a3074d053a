import torch
from sklearn.preprocessing import StandardScaler

x_train = torch.randn(200, 3).numpy()
x_test = (torch.randn(50, 3) + 3).numpy()  # the world has shifted

scaler = StandardScaler()
x_train = torch.from_numpy(scaler.fit_transform(x_train))
x_test = torch.from_numpy(scaler.transform(x_test))
result = {"shift_seen": (x_test.mean() - x_train.mean()).abs().item()}
