"""A failed `load_state_dict` that an `except` swallows leaves a random model behind.

`try: model.load_state_dict(torch.load(path)) except Exception: print("no checkpoint")` means "train from scratch if there is none". It
also catches names that do not match, a shape that changed and a file that is cut off: the run goes on with random weights, and
the line in the log is all that tells.

Ask whether the file is there, `if path.exists():`, and let everything else raise; or catch `FileNotFoundError` alone.
"""

ROWS = ()
SOURCES = ("https://github.com/dalmia/WannaPark/issues/3", "https://github.com/subhc/unsup-parts/pull/12")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, bool], good: dict[str, bool]) -> None:
    assert bad == {"went_on": True, "loaded": False}
    assert good == {"went_on": False, "loaded": False}
