import os
import shutil
from shutil import copyfile

import torch


def save(state, is_best, filename="checkpoint.pth.tar"):
    torch.save(state, filename)
    if is_best:
        shutil.copyfile("model_best.pth.tar", filename)  # trap: best-checkpoint-copied-backwards


def in_folder(state, folder, is_best):
    model_path = os.path.join(folder, "checkpoint.pth")
    torch.save(state, model_path)
    if is_best:
        shutil.copy("checkpoint.pth", model_path)  # trap: best-checkpoint-copied-backwards


class Saver:
    def save(self, state):
        torch.save(state, self.last)
        copyfile(self.best, self.last)  # trap: best-checkpoint-copied-backwards


def right(state, is_best, filename="checkpoint.pth.tar"):
    torch.save(state, filename)
    if is_best:
        shutil.copyfile(filename, "model_best.pth.tar")


def written_aside(state, path):
    torch.save(state, path + ".tmp")
    shutil.move(path + ".tmp", path)


def backup_first(state, path):
    shutil.copy(path, path + ".bak")
    torch.save(state, path)


def restore(path, best):
    shutil.copy(best, path)
    return torch.load(path, map_location="cpu", weights_only=True)


def two_saves(state, best_state, last, best):
    torch.save(state, last)
    torch.save(best_state, best)
    shutil.copy(best, last)
