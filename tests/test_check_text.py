"""The text of a file answers `in` from its words, and answers as any string does."""

from hypothesis import example, given
from hypothesis import strategies as st

from torchlore.check.source import Source
from torchlore.check.text import Text

PIECES = [
    "loss",
    "zip(",
    ".backward(",
    " in ",
    "lr",
    "é",
    "ΑΣ'",
    "ß",
    "= []",
    "\n",
    "\r\n",
    "1 - ",
    "_",
    "\ud800",
    "ab",
]
SOME = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=8).map("".join)


@given(SOME, SOME, st.integers(0, 20), st.integers(0, 20))
@example("total_loss = 1", "loss", 0, 0)
@example("unzip(x)", "zip(", 0, 0)
def test_a_text_holds_what_the_string_holds(text, other, start, length):
    known = Text(text)
    for part in (other, text[start : start + length], *PIECES):
        for _ in range(2):  # asked again, it is remembered
            assert (part in known) == (part in text)
            assert (part in known.lower()) == (part in text.lower())
    assert known == text
    assert known.lower() == text.lower()


def test_a_text_is_read_once():
    text = Text("loss.backward()")
    assert Text(text) is text
    assert text.lower() is text.lower()
    assert Source(text).text is text
