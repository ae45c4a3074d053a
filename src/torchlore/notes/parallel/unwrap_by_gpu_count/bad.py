from torch import nn


class Trainer:
    def __init__(self, model, n_gpu):
        self.model = model
        self.n_gpu = n_gpu

    def get_model(self):
        if self.n_gpu == 1:  # trap: unwrap-by-gpu-count
            return self.model
        else:
            return self.model.module


def wrap(model):
    return getattr(nn, "DataParallel")(model)


try:
    bare = type(Trainer(nn.Linear(2, 2), 0).get_model()).__name__
except AttributeError as error:
    bare = type(error).__name__
wrapped = type(Trainer(wrap(nn.Linear(2, 2)), 1).get_model()).__name__
result = {"bare": bare, "wrapped": wrapped}
