"""A collective that only rank 0 calls waits for the others for ever.

`all_reduce`, `all_gather`, `broadcast`, `barrier` and their kin are meetings: every process of the group must come. Under
`if rank == 0:` one comes and the rest have gone on; the run hangs until the timeout, half an hour later, far from the
line. A forward of a DistributedDataParallel model is such a meeting too.

Call it on every rank and keep the branch for what follows: reduce everywhere, print on rank 0. The one idiom that is
right has a barrier on both sides: the others wait, rank 0 works, then joins them.
"""

ROWS = ()
SOURCES = ("https://github.com/huggingface/transformers-bloom-inference/pull/40",)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["sums"] == ["waited in vain", 1.0]
    assert good["sums"] == [3.0, 3.0]
