"""What the documents wrote about how GPU memory grows."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E107",
        where="004:121-137",
        written="700M, 22000M, 53000M, 53000M",
        proof=(
            "net = torch.nn.Conv2d(3, 10, kernel_size=3)\n"
            "out = net(torch.ones(3, 3, 321, 321))\n"
            "print(sum(p.nbytes for p in net.parameters()), 'bytes of weights,', out.nbytes, 'of output')"
        ),
        happens="1120 bytes of weights, 12211320 of output",
        instead="The functions return bytes; an H200 with torch 2.11 reserves 2, 22, 22 and 22 MiB.",
    ),
)
