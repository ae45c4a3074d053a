"""The rule of swa-without-update-bn."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, frameworks, tree, uses
from torchlore.check.source import Hit, Source

_KEEPS = {"update_parameters", "state_dict", "load_state_dict", "parameters", "to", "cuda", "n_averaged"}
WORDS = ("AveragedModel", "update_parameters")


def find(source: Source) -> Iterator[Hit]:
    """An average of weights over epochs is evaluated with the statistics of the last epoch's net."""
    if "BatchNorm" not in source.text:
        return
    updates = list(source.calls("torch.optim.swa_utils.update_bn"))
    own = any("update_bn" in one.name or "bn_update" in one.name for one in flow.functions(source))
    if updates or own or not any(source.methods("update_parameters")):
        yield from _of_the_other(source, updates)
        return
    for call in source.calls("torch.optim.swa_utils.AveragedModel"):
        told = any(tree.keyword(call, one) is not None for one in ("use_buffers", "avg_fn", "multi_avg_fn"))
        first = _evaluated(source, call) if not told and len(call.args) < 3 else None
        if first is not None and not frameworks.owned(source, call):
            code = source.code(first)
            message = f"`{code}` has averaged weights, and batch norm has the statistics of other weights: call `torch.optim.swa_utils.update_bn(loader, {code})` first"
            yield source.hit(first, message)


def _of_the_other(source: Source, updates: list[ast.Call]) -> Iterator[Hit]:
    """`update_bn(loader, model)`: the statistics of the net that was averaged, and not of the average."""
    given = [tree.argument(one, 1, "model") for one in updates]
    made = [source.values(one) if one is not None else () for one in given]
    plain = [
        bool(found) and all(one.kind and not one.name.endswith("AveragedModel") for one in found) for found in made
    ]
    if not plain or not all(plain) or given[0] is None:
        return
    for call in source.calls("torch.optim.swa_utils.AveragedModel"):
        same = bool(call.args) and tree.dotted(call.args[0]) == tree.dotted(given[0])
        first = _evaluated(source, call) if same else None
        if first is not None:
            code = source.code(first)
            yield source.hit(
                updates[0],
                f"this measures the statistics of `{source.code(given[0])}`, and `{code}` keeps those of other weights: give it `{code}`",
            )
            return


def _evaluated(source: Source, call: ast.Call) -> ast.expr | None:
    """The first place after the updates where the average is called, or given to a function."""
    held = source.parents[call]
    target = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
    if isinstance(target, ast.Name):
        reads: list[ast.expr] = [*uses.names(source, target.id)]
    elif isinstance(target, ast.Attribute):
        reads = [*uses.attributes(source, target.attr)]
    else:
        return None
    home = tree.function if isinstance(target, ast.Name) else tree.class_of
    reads = [one for one in reads if home(source, one) is home(source, call) or isinstance(target, ast.Attribute)]
    ups = [source.parents[one] for one in reads]
    updates = [up.lineno for up in ups if isinstance(up, ast.Attribute) and up.attr == "update_parameters"]
    updated = max(updates, default=0)
    if not updates:
        return None
    for one in reads:
        up = source.parents[one]
        if isinstance(up, ast.Attribute) and up.attr == "train":
            return None  # it sees batches in training mode
    for one in reads:
        up = source.parents[one]
        judged = isinstance(up, ast.Call) and (up.func is one or one in up.args) and not _keeps(up)
        said = isinstance(up, ast.Attribute) and up.attr == "eval"
        said |= isinstance(up, ast.Return) and any(source.methods("eval"))  # to be judged by whoever called
        if one.lineno > updated and (judged or said):
            return one
    return None


def _keeps(call: ast.Call) -> bool:
    """`save(swa_model)`, `ema.update_parameters(swa_model)`, `print(swa_model)`: nothing is evaluated."""
    return tree.dotted(call.func).rpartition(".")[2] in _KEEPS | {"save", "print", "id", "type", "isinstance"}
