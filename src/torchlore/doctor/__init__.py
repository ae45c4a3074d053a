"""What is wrong with this machine for training: facts first, then the findings that follow from them."""

from torchlore.doctor.facts import Machine, look
from torchlore.doctor.rules import findings

__all__ = ["Machine", "findings", "look"]
