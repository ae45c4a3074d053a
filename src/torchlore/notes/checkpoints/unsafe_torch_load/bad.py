import io
import pickle

import torch


class Payload:
    def __reduce__(self):
        return print, ("this could have been any program",)


def a_file_from_the_net():
    header = (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    parts = (*header, {"weight": [1.0], "extra": Payload()}, [])
    return io.BytesIO(b"".join(pickle.dumps(part, protocol=2) for part in parts))


try:
    state = torch.load(a_file_from_the_net(), map_location="cpu", weights_only=False)  # trap: unsafe-torch-load
    ran = True
except pickle.UnpicklingError:
    ran = False

result = {"ran": ran}
