import torch


def save(model, n_gpu, path):
    state = model.state_dict() if n_gpu == 1 else model.module.state_dict()  # trap: unwrap-by-gpu-count
    torch.save(state, path)


def inner(model):
    if torch.cuda.device_count() != 1:  # trap: unwrap-by-gpu-count
        return model.module
    else:
        return model


class Trainer:
    def weights(self):
        if self.num_gpus >= 0:  # trap: unwrap-by-gpu-count
            params = self.model.module.parameters()
        else:
            params = self.model.parameters()
        return params


def fine(model, n_gpu, args):
    if n_gpu > 1:
        state = model.module.state_dict()
    else:
        state = model.state_dict()
    inner_model = model.module if hasattr(model, "module") else model
    count = 1 if n_gpu == 1 else 2
    if args.layers == 1:
        block = model
    else:
        block = model.module
    return state, inner_model, count, block
