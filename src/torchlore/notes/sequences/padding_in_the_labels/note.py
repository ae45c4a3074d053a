"""`labels = input_ids` of a padded batch makes the model learn its padding: only -100 is left out.

The language models of transformers take `labels` and leave out those that are -100, and nothing else: not the padding token, not
what the attention mask covers. With `tokenizer(texts, padding=...)` and `labels = input_ids.clone()` every filled place is a word to
be predicted. The loss falls fast, as padding is the easiest word of all, and means less the shorter the texts are; where the
padding token is that of the end, the model learns to write nothing but ends.

Set them: `labels[batch["attention_mask"] == 0] = -100`. `DataCollatorForLanguageModeling` does it by itself.
"""

ROWS = ()
SOURCES = (
    "https://github.com/huggingface/transformers/pull/4718",
    "https://github.com/huggingface/transformers/issues/7135",
)
TORCH = "2.11, 2.15"
NEEDS = ("transformers",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["by_padding"] > 1e-3
    assert good["by_padding"] < 1e-5
