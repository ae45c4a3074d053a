"""Open the data a run names, check all of it, and name every trouble before the first step."""

from __future__ import annotations

from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data, digits

EMBEDDED = {"digits": digits}


def open_data(run: Run) -> Data:
    """The data set with its splits, or Refused with the file or class at fault."""
    if run.data in EMBEDDED:
        return EMBEDDED[run.data](run.val, run.seed)
    raise Refused(f"--data {run.data}: only the embedded sets {', '.join(EMBEDDED)} can be read so far")
