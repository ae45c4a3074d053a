"""What all tests share."""

import os
import signal

import pytest
from hypothesis import settings

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # deterministic runs on a GPU want it before CUDA starts
settings.register_profile("ours", deadline=None)  # the machine may be busy; a time is asserted where it matters
settings.load_profile("ours")
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell runs us in the background; our children would not hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def rules():
    """All rules of `lore check`; a test may ask for few of them."""
    from torchlore.cli.check import all_rules

    return all_rules()
