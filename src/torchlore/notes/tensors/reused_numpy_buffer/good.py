import numpy as np

from torchlore.recipes.tensors import from_numpy

buffer = np.empty((4, 4), dtype=np.float32)
frames = []
for number in range(4):
    buffer[:] = number  # a camera fills the same array each time
    frames.append(from_numpy(buffer))

result = {"means": [frame.mean().item() for frame in frames]}
