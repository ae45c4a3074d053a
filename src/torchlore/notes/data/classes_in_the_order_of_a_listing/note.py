"""A listing of a folder has no order: number its classes only after sorting.

`os.listdir`, `glob` and `iterdir` give names in the order of the file system. `classes.index(name)` and
`enumerate(os.listdir(root))` number the classes by it, so that class 0 is "ash" on one machine and "oak" on the next, or in the
folder for training and in the one for testing. Nothing fails; a checkpoint that was right is then wrong elsewhere, and accuracy
falls to chance.

Sort before counting: `classes = sorted(os.listdir(root))`, as torchvision's `ImageFolder` does.
"""

ROWS = ()
SOURCES = (
    "https://github.com/oripress/CCC/issues/3",
    "https://github.com/xyanchen/WiFi-CSI-Sensing-Benchmark/issues/7",
    "https://github.com/anujshah1003/own_data_cnn_implementation_keras/issues/4",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, list[str]], good: dict[str, list[str]]) -> None:
    assert good["classes"] == sorted(good["classes"])
    assert sorted(bad["classes"]) == good["classes"]  # the same names, in whatever order this file system has
