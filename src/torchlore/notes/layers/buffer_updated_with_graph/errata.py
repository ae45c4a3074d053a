"""What the documents wrote about updating running statistics."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E021",
        where="003:225",
        written="class BN(torch.nn.Module)",
        proof='compile("class BN(torch.nn.Module)\\n    pass", "snippet", "exec")',
        happens="SyntaxError: expected ':'",
        instead="`class BN(torch.nn.Module):`",
    ),
    Erratum(
        id="E046",
        where="003:232",
        written="self.running_mean += momentum * (current - self.running_mean)",
        proof="""
from torch import nn
class BN(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("running_mean", torch.zeros(2))
    def forward(self, X):
        current = self.fc(X).mean(0)
        self.running_mean += 0.1 * (current - self.running_mean)
        return X
bn = BN().eval()
before = bn.running_mean.clone()
bn(torch.ones(3, 2))
print("requires a gradient:", bn.running_mean.requires_grad, "moves in eval:", not torch.equal(before, bn.running_mean))
""",
        happens="requires a gradient: True moves in eval: True",
        instead="`if self.training: with torch.no_grad(): self.running_mean.lerp_(current, momentum)`",
    ),
)
