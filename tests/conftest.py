"""What all tests share."""

import os

from hypothesis import settings

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # deterministic runs on a GPU want it before CUDA starts
settings.register_profile("ours", deadline=None)  # the machine may be busy; a time is asserted where it matters
settings.load_profile("ours")
