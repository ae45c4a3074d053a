"""Save the inner model: wrappers put `module.` or `_orig_mod.` before every name.

DataParallel, DistributedDataParallel and torch.compile name the weights through the wrapper. Loaded into the bare model, strictly, that is an error
about every key; with `strict=False` nothing matches, nothing is loaded and nothing is said. The notes advise wrapping
the new model too; that is not needed, and `DataParallel(model).module` is the model itself.

Unwrap when saving: `torch.save(model.module.state_dict(), path)`, or `unwrap(model)` of `torchlore.recipes.device`
for all three wrappers. A file that is already written is mended by
`torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")`; `lore ckpt` names the prefix.
"""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, saved, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ("ckpt-dp-prefix",)
SOURCES = ("000:46-54", "002:124-134", "003:258")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch import nn
    from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present

    assert bad["matched"] == 0
    assert good["matched"] == 2

    model = nn.Linear(2, 2)
    wrapped = nn.DataParallel(model)
    assert wrapped.module is model
    state = wrapped.state_dict()
    assert list(state) == ["module.weight", "module.bias"]
    consume_prefix_in_state_dict_if_present(state, "module.")
    assert nn.Linear(2, 2).load_state_dict(state).missing_keys == []
    assert list(torch.compile(model).state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]  # type: ignore[attr-defined]  # a Module


_PREFIX = {"torch.nn.DataParallel": "module", "torch.nn.parallel.DistributedDataParallel": "module",
           "torch.compile": "_orig_mod"}  # fmt: skip
_STRIPPED = regex(
    r"[A-Za-z_][\w.]*(?<!layer)(?<!layers)(?<!block)(?<!blocks)\."
)  # behind those comes a number, which stays
WORDS = ("lstrip|strip|save", "lstrip|strip|state_dict")


def find(source: Source) -> Iterator[Hit]:
    yield from _stripped(source)
    for call in source.calls("torch.save"):
        for _, part in saved.contents(source, call).items:
            if not isinstance(part, ast.Call) or follow.method(part) != "state_dict":
                continue
            model = tree.receiver(part)
            made = [one.name for one in source.values(model)]
            prefix = next((_PREFIX[one] for one in made if one in _PREFIX), "")
            if not prefix:
                continue
            here = all(one.source is source for one in source.values(model))  # else one of several is wrapped
            known = all(one in _PREFIX for one in made) or (here and not uses.attributes(source, "module"))
            if known and not _loaded_wrapped(source):
                code = source.code(model)
                told = f"every name is saved as `{prefix}.…`, which the bare model does not know"
                write = f"{told}: save `{code}.{prefix}.state_dict()`"
                yield source.hit(part, write, severity=None if _loads(source, prefix, call) else "hint")


def _loads(source: Source, prefix: str, save: ast.Call) -> bool:
    """Whether somebody loads here; of a compiled net, in the same function: elsewhere it may be compiled again."""
    loads, home = list(source.methods("load_state_dict")), tree.function(source, save)
    return any(prefix == "module" or tree.function(source, one) is home for one in loads)


def _stripped(source: Source) -> Iterator[Hit]:
    """`name.lstrip("module.")` takes off letters, not a word: `module.model.0` becomes `0`."""
    for call in source.methods("lstrip", "strip"):
        word = tree.literal(call.args[0]) if len(call.args) == 1 else None
        if isinstance(word, str) and len(set(word)) > 3 and _STRIPPED.fullmatch(word):
            told = f'this takes off every letter of "{word}" and eats into names: write `removeprefix("{word}")`'
            yield source.hit(call, told, severity="error")


def _loaded_wrapped(source: Source) -> bool:
    """Whether the file takes the prefix off, or loads into a wrapped model too, so that the names fit."""
    if any(one.value in ("module.", "_orig_mod.") for one in source.all(ast.Constant)) or "[7:]" in source.text:
        return True  # seven letters are `module.`
    given = (call.args[0] for call in source.methods("load_state_dict") if call.args)
    helpers = [flow.called(source, one) for one in given if isinstance(one, ast.Call)]
    if any(one is not None and ("[7:]" in one.source.text or "module." in one.source.text) for one in helpers):
        return True
    loads = [call.func.value for call in source.methods("load_state_dict") if isinstance(call.func, ast.Attribute)]
    return any(
        value.name in _PREFIX for one in loads if values.maybe(source, one, "module") for value in source.values(one)
    )
