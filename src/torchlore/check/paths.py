"""How the parameters of a model are called, where the classes that make it can be read."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlore.check import api, classes, follow, scopes, tree
from torchlore.check.calls import callers, given_argument
from torchlore.check.pattern import regex
from torchlore.check.project import as_function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.project import Class
    from torchlore.check.source import Source
    from torchlore.check.values import Value

_LEAVES = regex(r"^torch\.nn\.(Linear|Bilinear|Conv\d?d|ConvTranspose\d?d|Embedding|EmbeddingBag|(Batch|Group|Layer|RMS|Instance)Norm"
                     r"\d?d?|PReLU)$")  # fmt: skip
_CELLS = regex(r"^torch\.nn\.(LSTM|GRU|RNN|LSTMCell|GRUCell|RNNCell)$")
_MADE = regex(r"add_module|setattr|register_module|register_parameter|__dict__|ModuleDict|OrderedDict|exec\(")


def steps(source: Source, value: Value, depth: int = 5) -> set[str] | None:
    """The words that paths such as `body.0.weight` are made of, without numbers; None where a part cannot be read."""
    if not api.is_kind(value.kind, "module") or depth == 0:
        return None
    if _LEAVES.match(value.name):
        return {"weight", "bias"}
    if _CELLS.match(value.name):
        return {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_ih", "reverse"}
    if value.name in ("torch.nn.Sequential", "torch.nn.ModuleList"):
        inner = [steps(source, one, depth - 1) for group in value.items for one in group]
        known = [one for one in inner if one is not None]
        return set().union(*known) if inner and len(known) == len(inner) else None
    if re.match(r"^torch\.nn\.[A-Z]", value.name):
        return (
            set()
            if re.search(r"(ReLU|Dropout\d?d?|Tanh|Sigmoid|Softmax|GELU|SiLU|Flatten|Identity|Pool\d?d)$", value.name)
            else None
        )
    owner = classes.class_behind(source, value)
    return _of_class(owner, depth) if owner is not None and classes.is_module(owner) else None


def _of_class(owner: Class, depth: int) -> set[str] | None:
    bases, outside = owner.source.project.bases(owner)
    if outside - {"torch.nn.Module", "object"} or any(_MADE.search(one.source.code(one.node)) for one in bases):
        return None
    found: set[str] = set()
    for name, assigned in classes.attributes(owner).items():
        for one in assigned:
            made = one.source.values(one.value) if one.value is not None and not one.path else ()
            if not made or any(not value.kind for value in made):
                return None
            layers = [value for value in made if api.is_kind(value.kind, "module")]
            inner = [steps(one.source, value, depth - 1) for value in layers]
            if any(part is None for part in inner):
                return None
            if layers or any(value.kind in ("parameter", "parameterlist") for value in made):
                found |= {name}.union(*(part for part in inner if part is not None))
    return found


def words(source: Source, test: ast.expr, name: str) -> list[tuple[str, ast.expr]]:
    """The words a test looks for in a parameter's name, each with the node to report; [] where one cannot be read."""
    found: list[tuple[str, ast.expr]] = []
    if isinstance(test, ast.BoolOp):
        parts = [words(source, one, name) for one in test.values]
        return [word for part in parts for word in part] if all(parts) else []
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return words(source, test.operand, name)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In | ast.NotIn):
        found = [(tree.literal(test.left), test)] if tree.dotted(test.comparators[0]) == name else []  # type: ignore[list-item]  # asked below
    elif (
        follow.method(test) == "startswith" and isinstance(test, ast.Call) and tree.dotted(tree.receiver(test)) == name
    ):
        given = test.args[0].elts if test.args and isinstance(test.args[0], ast.Tuple) else test.args
        found = [(tree.literal(one), test) for one in given]  # type: ignore[misc]  # asked below
    elif isinstance(test, ast.Call) and source.name(test.func) == "any" and test.args:
        inner = test.args[0]
        if isinstance(inner, ast.GeneratorExp | ast.ListComp) and len(inner.generators) == 1:
            looked = source.code(inner.elt)
            target = tree.dotted(inner.generators[0].target)
            if looked in (f"{target} in {name}", f"{name}.startswith({target})"):
                found = [*_listed(source, inner.generators[0].iter)]
    return found if found and all(isinstance(word, str) and word for word, _ in found) else []


def _listed(source: Source, box: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The elements of a list that is written here, behind a name, or in what the callers pass."""
    whole = follow.followed(source, box)
    if isinstance(whole, ast.List | ast.Tuple | ast.Set):
        yield from ((tree.literal(one), whole) for one in whole.elts)  # type: ignore[misc]  # asked by the caller
        return
    bound = scopes.reaching(source, whole) if isinstance(whole, ast.Name) else []
    arg, home = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None, tree.function(source, box)
    if not isinstance(arg, ast.arg) or home is None:
        return
    function = as_function(source, home)
    for at, call, skip in callers(function):
        given = given_argument(function, call, arg, skip) if at is source else None
        inner = follow.followed(source, given) if given is not None else None
        if not isinstance(inner, ast.List | ast.Tuple | ast.Set):
            yield "", box  # somebody else chooses
            return
        yield from ((tree.literal(one), inner) for one in inner.elts)  # type: ignore[misc]  # asked by the caller
