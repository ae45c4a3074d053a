"""Checkpoints: open any of them without running it, see what is inside, move them anywhere.

`read_checkpoint` describes a file, `inspect` says what is wrong with it, `scan` what it would run, `match` how it fits
a model; `convert`, `average`, `diff` and `repair` work on files. Nothing here imports torch.
"""

from torchlore.ckpt.convert import Difference, Written, average, convert, diff, repair
from torchlore.ckpt.health import inspect, stats
from torchlore.ckpt.match import Match, match
from torchlore.ckpt.names import Verdict
from torchlore.ckpt.reader import read_checkpoint
from torchlore.ckpt.scan import Report, scan, scan_file
from torchlore.ckpt.tensors import Tensor, array
from torchlore.ckpt.torchfile import Checkpoint
from torchlore.ckpt.values import BadFile
from torchlore.ckpt.weights import groups, weights, without_prefix, wrapper_prefix

__all__ = [
    "BadFile",
    "Checkpoint",
    "Difference",
    "Match",
    "Report",
    "Tensor",
    "Verdict",
    "Written",
    "array",
    "average",
    "convert",
    "diff",
    "groups",
    "inspect",
    "match",
    "read_checkpoint",
    "repair",
    "scan",
    "scan_file",
    "stats",
    "weights",
    "without_prefix",
    "wrapper_prefix",
]
