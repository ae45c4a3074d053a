from torch import nn
from torch.utils.data import Dataset


class A(nn.Module):
    def _init_(self):  # trap: misspelt-method
        super().__init__()

    def foward(self, x):  # trap: misspelt-method
        return x


class B(nn.Module):
    def __init(self):  # trap: misspelt-method
        self.n = 3

    def forwad(self, x):  # trap: misspelt-method
        return x


class C(Dataset):
    def __len_(self):  # trap: misspelt-method
        return 3

    def __get_item__(self, i):  # trap: misspelt-method
        return i


class Fine(nn.Module):
    def __init__(self):
        super().__init__()

    def _init_weights(self):
        return None

    def init(self):
        return None

    def forward(self, x):
        return self._forward(x)

    def _forward(self, x):
        return x


class Number:
    def __int__(self):
        return 3

    def foward(self):
        return 4


class Translator(nn.Module):
    def forward_mt(self, x):
        return x

    def re_forward(self, x):
        return x
