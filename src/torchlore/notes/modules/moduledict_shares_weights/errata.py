"""What the documents wrote about ModuleDict, and in the transcript style they wrote it in."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E040",
        where="004:96",
        written="self.base = nn.ModuleDict(a.named_children()); transcripts with `>>>` shown as code",
        proof="""
from torch import nn
class B(nn.Module):
    def __init__(self):
        super(B, self).__init__()
        self.base = nn.ModuleDict(a.named_children())
B()
""",
        happens="NameError: name 'a' is not defined",
        instead="Pass the model in: `def __init__(self, a)`. Drop the `>>>` prompts to run a transcript.",
    ),
)
