import argparse

import numpy as np
import torch
from torch import nn


def best_of(model: nn.Module, losses, path):
    best = 1e9
    for chunk in losses:
        best = min(best, np.mean(chunk))
    torch.save({"model": model.state_dict(), "best": best}, path)  # trap: numpy-scalar-in-checkpoint


def rounded(model: nn.Module, accs, path):
    state = {"model": model.state_dict()}
    state["acc"] = round(np.max(accs), 3)
    torch.save(state, path)  # trap: numpy-scalar-in-checkpoint


def main(model: nn.Module, path):
    parser = argparse.ArgumentParser()
    args = parser.parse_args()
    torch.save({"model": model.state_dict(), "args": args}, path)  # trap: numpy-scalar-in-checkpoint
    torch.save({"model": model.state_dict(), "args": vars(args)}, path)


def clean(model: nn.Module, accs, path, best, args):
    torch.save({"model": model.state_dict(), "best": float(np.mean(accs))}, path)
    torch.save({"model": model.state_dict(), "best": np.mean(accs).item()}, path)
    torch.save({"model": model.state_dict(), "best": best, "args": args}, path)
    torch.save({"model": model.state_dict(), "best": sum(accs) / len(accs)}, path)
    torch.save({"model": model.state_dict(), "best": int(np.argmax(accs))}, path)
    torch.save(torch.as_tensor(np.mean(accs, axis=0)), path)


def arrays(words, path):
    positions = []
    for word in words:
        positions.append([0, len(word)])
    positions = np.int64(positions)
    torch.save({"positions": positions}, path)
