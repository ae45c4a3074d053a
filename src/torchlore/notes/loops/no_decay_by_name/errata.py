"""What the documents wrote about sparing biases."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E058",
        where="003:474",
        written="name[-4:] == 'bias'",
        proof=(
            "from torch import nn\n"
            "model = nn.ModuleDict({'rnn': nn.LSTM(2, 2), 'bn': nn.BatchNorm1d(2)})\n"
            "print([name for name, _ in model.named_parameters() if name[-4:] == 'bias'], 'unbias'[-4:] == 'bias')"
        ),
        happens="['bn.bias'] True",
        instead="`p.ndim <= 1`: it finds the LSTM's biases and the norms' weights too.",
    ),
)
