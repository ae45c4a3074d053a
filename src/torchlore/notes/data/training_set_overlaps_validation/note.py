"""Two random splits drawn one after the other share samples: the validation has been trained on.

`torch.randperm(n)[:a]` for training and another `torch.randperm(n)[:b]` for validation are independent. On average the share
a / n of the validation samples is in the training set too. The figure looks good, and says how well the network remembers.
The same happens where training takes the whole data set and only the validation takes its split, and where windows that slide over
one series by single steps are split at random: each one held out has neighbours in training that share nearly all of it.

Draw one permutation and cut it, or use `random_split`, whose parts never meet.
"""

ROWS = ()
SOURCES = ("https://github.com/yannlabb/robopose/issues/3", "https://github.com/marin-community/marin/pull/2700")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["shared"] > 10
    assert good["shared"] == 0
