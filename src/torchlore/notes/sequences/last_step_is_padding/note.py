"""`out[:, -1]` of a padded batch is what the RNN says after the padding, not after the last word.

Sequences of a batch are filled up to one length. The last column belongs to the longest one; for the others the RNN has gone on over
padding for as many steps as they are shorter, and forgets. The result then depends on how long the neighbours in the batch are. Behind `pad_packed_sequence` it is worse: what lies after
the end of a sequence is zero, so all but the longest are told by nothing.

Take the state at each sequence's own end, or do not run over the padding at all:

```python
last = out[torch.arange(len(lengths)), lengths - 1]

packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
_, (h, _) = self.lstm(packed)      # h[-1] is the state at each end
```
"""

ROWS = ()
SOURCES = (
    "https://discuss.pytorch.org/t/simple-working-example-how-to-use-packing-for-variable-length-sequence-inputs-for-rnn/2120",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["depends_on_padding"] > 0.01
    assert good["depends_on_padding"] < 1e-6
