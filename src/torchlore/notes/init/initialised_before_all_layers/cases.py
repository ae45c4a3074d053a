from torch import nn


def init_weights(m):
    if isinstance(m, (nn.Linear, nn.Conv2d)):
        nn.init.normal_(m.weight, std=0.02)


class Early(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.apply(init_weights)  # trap: initialised-before-all-layers
        self.norm = nn.LayerNorm(8)
        self.fc = nn.Linear(8, 2)


class Late(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.fc = nn.Linear(8, 2)
        self.apply(init_weights)


class OwnStart(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.apply(init_weights)
        self.fc = nn.Linear(8, 2)
        nn.init.zeros_(self.fc.weight)


class OtherKind(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.apply(init_weights)
        self.norm = nn.LayerNorm(8)
        self.act = nn.ReLU()
        self.loss = nn.CrossEntropyLoss()


class WrittenTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.apply(init_linear)

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.apply(init_linear)


def init_linear(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 8)
        self.apply(init_linear)  # trap: initialised-before-all-layers
        self.head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))


class Inner(nn.Module):
    def __init__(self):
        super(Inner, self).__init__()
        self.fc = nn.Linear(8, 2)


class Initialised(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
        nn.init.zeros_(self.fc.weight)


class OfParts(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 8)
        self.apply(init_linear)  # trap: initialised-before-all-layers
        self.head = Inner()


class OnPurpose(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 8)
        self.apply(init_linear)
        self.head, self.norm = Initialised(), nn.Sequential(nn.LayerNorm(2), nn.ReLU())
