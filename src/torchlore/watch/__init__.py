"""Watch a running program: its events become pictures, sentinels look at them, findings come out.

Importing this package imports no torch; the probes are set only once the program itself has imported it.
"""

from torchlore.watch.pictures import Alarm, Batch, Call, Phase, Place, Step
from torchlore.watch.session import Sentinel, Watch, watching

__all__ = ["Alarm", "Batch", "Call", "Phase", "Place", "Sentinel", "Step", "Watch", "watching"]
