import doctest
import importlib
import inspect

import pytest

MODULES = ["seed", "device", "video", "optim", "schedules", "features", "checkpoint", "weights", "data", "memory"]
PRIVATE = ["_average", "_files", "_decode", "_samplers", "_summary", "_graph"]


@pytest.mark.parametrize("name", [*MODULES, "profile", *PRIVATE])
def test_every_example_runs(name):
    module = importlib.import_module(f"torchlore.recipes.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", [*MODULES, "profile"])
def test_every_public_function_has_an_example(name):
    module = importlib.import_module(f"torchlore.recipes.{name}")
    for word, thing in vars(module).items():
        if word.startswith("_") or not inspect.isfunction(thing) or not thing.__module__.startswith("torchlore"):
            continue
        assert ">>>" in (thing.__doc__ or ""), f"{name}.{word} has no example"
