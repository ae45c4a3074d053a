import io
import zipfile

import torch
from torch import nn


def as_if_saved_from_a_gpu(value):
    plain, file = io.BytesIO(), io.BytesIO()
    torch.save(value, plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b"\x03\x00\x00\x00cpu", b"\x06\x00\x00\x00cuda:0"))
    file.seek(0)
    return file


file = as_if_saved_from_a_gpu(nn.Linear(4, 2).state_dict())
try:
    state = torch.load(file, weights_only=True)  # trap: load-without-map-location
    where = state["weight"].device.type
except RuntimeError as error:
    where = type(error).__name__

result = {"device": where}
