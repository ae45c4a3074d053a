from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = ["losses", "_overlap", "_embedding", "tensors", "_images", "metrics", "_ranking", "_report"]
MODULES += ["augment", "shapes", "layers", "init"]


@pytest.mark.parametrize("name", MODULES)
def test_every_example_runs_and_every_public_function_has_one(name):
    module = importlib.import_module(f"torchlore.recipes.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
    if name.startswith("_"):
        return
    for word in module.__all__:
        thing = getattr(module, word)
        data = isinstance(thing, type) and (issubclass(thing, tuple) or word == "Layer")
        assert data or ">>>" in (thing.__doc__ or ""), f"{name}.{word} has no example"
