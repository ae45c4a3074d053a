"""A frozen teacher or feature extractor in train mode gives other answers each time.

Freezing stops gradients. Dropout still drops and batch norm still normalises with the batch at hand and moves its running
statistics, because those follow `train()` and `eval()`. The student is taught noise, cached features differ from those of the
next epoch, and the teacher that is saved afterwards is no longer the one that was loaded. `model.train()` on a wrapper
switches the teacher inside it back on.

Call `teacher.eval()` after building it, and again after any `train()` that reaches it.
"""

ROWS = ()
SOURCES = ("https://github.com/yxuansu/TaCL/issues/11", "https://github.com/vrvlive/knowlege-distillation/issues/2")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["differs"] > 0.01
    assert good["differs"] == 0
