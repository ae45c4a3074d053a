"""Without `batch_first=True` an RNN or Transformer layer takes the first dimension for time.

The default layout is (time, batch, features). Batches of shape (batch, time, features) go through without an error: the layer
then runs along the batch, so that every sample sees the ones before it and none sees its own past. `out[:, -1]` picks the last
*sample* of each "batch". The loss still falls somewhat, because each position is processed.

Say what the input is:

```python
self.rnn = nn.LSTM(features, hidden, batch_first=True)
self.layer = nn.TransformerEncoderLayer(width, heads, batch_first=True)
last = self.rnn(x)[0][:, -1]
```

The hidden state `h_n` is (layers, batch, hidden) in either case.
"""

ROWS = ()
SOURCES = ("https://github.com/Ligouhai-bigone/Sentiment-Analysis-Chinese-pytorch/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["depends_on_neighbours"] > 0.01
    assert good["depends_on_neighbours"] < 1e-6
