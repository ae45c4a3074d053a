from torch import nn

from torchlore.recipes.device import unwrap


class Trainer:
    def __init__(self, model: nn.Module, n_gpu: int) -> None:
        self.model = model
        self.n_gpu = n_gpu

    def get_model(self) -> nn.Module:
        return unwrap(self.model)


def wrap(model: nn.Module) -> nn.Module:
    return getattr(nn, "DataParallel")(model)  # noqa: B009 - any library may have wrapped it


bare = type(Trainer(nn.Linear(2, 2), 0).get_model()).__name__
wrapped = type(Trainer(wrap(nn.Linear(2, 2)), 1).get_model()).__name__
result = {"bare": bare, "wrapped": wrapped}
