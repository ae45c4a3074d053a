"""The rule of parameters-in-no-group."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, flow, follow, tensors, tree, uses
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_LAYERS = {f"torch.nn.{name}" for name in ("Linear", "Conv1d", "Conv2d", "Conv3d", "Embedding", "LayerNorm", "BatchNorm1d",
           "BatchNorm2d", "LSTM", "GRU", "ConvTranspose2d", "MultiheadAttention")}  # fmt: skip
_INNER = "weight bias weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0 in_proj_weight in_proj_bias out_proj"
_READ = re.compile(r"vgg|perc|lpips|teacher|target|ema|fixed|frozen|random|feat", re.IGNORECASE)
_MEANT = ("requires_grad", "freeze", "frozen", "pretrain", "load_state_dict", "torch.load")

_ALONE = "="
_GUARD = re.compile(r"if not \w+\.requires_grad:\s*continue|if \w+\.requires_grad\b")  # leaves nothing out that is free

Choice = tuple[ast.expr, ast.expr, list[ast.expr]]  # where to tell it, the model, the tests that take a parameter

WORDS = ("parameters|named_parameters",)


def find(source: Source) -> Iterator[Hit]:
    if not flow.may_train(source):
        return
    text = _GUARD.sub("", source.text) if "requires_grad" in source.text else source.text
    if any(word in text for word in _MEANT):
        return
    yield from _listed_parts(source)
    if "named_parameters" not in source.text:
        return
    for where, model, tests in (*_branches(source), *_comprehensions(source)):
        words = [_word(test) for test in tests]
        parts = _layers(source, model) if words and all(words) else []
        left = [part for part in parts if not any(_takes(word, part) for word in words if word is not None)]
        if left and len(left) < len(parts):
            told = f"`{left[0].rstrip(_ALONE)}` of `{source.code(model)}` fits none of these tests, so no group gets it and it never learns"
            yield source.hit(where, f"{told}: take the rest with an `else`")


def _listed_parts(source: Source) -> Iterator[Hit]:
    """`list(self.G.parameters())` and `list(self.D.parameters())`, and nothing for `self.Dpatch`, which the class calls too."""
    given = list(source.methods("parameters", "named_parameters"))
    parts = {one.attr for call in given if isinstance(one := tree.receiver(call), ast.Attribute)}
    if len(parts) < 2 or any(not isinstance(tree.receiver(call), ast.Attribute) for call in given):
        return  # a whole model is given
    for cls in classes.all_classes(source):
        layers = _layers_of(cls) if classes.is_module(cls) else []
        left = [one for one in layers if one not in parts and not _READ.search(one)]
        run = [
            call
            for call in tree.under(source, cls.node, ast.Call)
            if tree.dotted(call.func).removeprefix("self.") in left
        ]
        trained = [call for call in run if not tensors.no_grad_around(source, call)]
        listed = [call for call in given if tree.inside(source, call, cls.node)]
        if trained and len(listed) > 1 and len(left) == 1 and parts <= set(layers):
            told = f"`self.{left[0]}` is called and no optimizer is given its parameters, so it never learns"
            yield source.hit(listed[-1], f"{told}: add `self.{left[0]}.parameters()`")


def _branches(source: Source) -> Iterator[Choice]:
    """`if "a" in name: x.append(p)` and `elif ...` without an `else`, over all parameters of a model."""
    for loop in source.all(ast.For):
        model, names = _over(loop.iter, loop.target)
        body = loop.body[1:] if _GUARD.match(source.code(loop.body[0])) else loop.body
        branch = body[0] if len(body) == 1 else None
        tests = list[ast.expr]()
        while (
            isinstance(branch, ast.If)
            and len(branch.body) == 1
            and follow.method(getattr(branch.body[0], "value", branch)) == "append"
        ):
            tests.append(branch.test)
            branch = branch.orelse[0] if len(branch.orelse) == 1 else None if not branch.orelse else loop
        if model is not None and branch is None and len(tests) > 1 and all(_about(one, names) for one in tests):
            yield tests[-1], model, tests


def _comprehensions(source: Source) -> Iterator[Choice]:
    """`[{"params": [p for n, p in net.named_parameters() if "a" in n]}, ...]`, given to an optimizer."""
    for call, _ in uses.calls_under(source, "torch.optim."):
        given = follow.followed(source, call.args[0]) if call.args else None
        groups = (
            given.elts if isinstance(given, ast.List) and all(isinstance(one, ast.Dict) for one in given.elts) else []
        )
        found = [_one_group(source, one) for one in groups if isinstance(one, ast.Dict)]
        if len(found) > 1 and all(found) and len({source.code(one[0]) for one in found if one is not None}) == 1:
            tests = [one[1] for one in found if one is not None]
            yield tests[-1], next(one[0] for one in found if one is not None), tests


def _one_group(source: Source, group: ast.Dict) -> tuple[ast.expr, ast.expr] | None:
    """The model and the test of one group."""
    pairs = zip(group.keys, group.values, strict=True)
    held = next((value for key, value in pairs if key is not None and tree.literal(key) == "params"), None)
    made = follow.followed(source, held) if held is not None else None
    first = (
        made.generators[0] if isinstance(made, ast.ListComp | ast.GeneratorExp) and len(made.generators) == 1 else None
    )
    model, names = _over(first.iter, first.target) if first is not None else (None, "")
    if first is None or model is None or len(first.ifs) != 1 or not _about(first.ifs[0], names):
        return None
    return model, first.ifs[0]


def _over(over: ast.expr, target: ast.expr) -> tuple[ast.expr | None, str]:
    """The model and the name of the name in `for name, p in model.named_parameters()`."""
    named = isinstance(over, ast.Call) and follow.method(over) == "named_parameters" and not over.args
    first = target.elts[0] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
    return (
        (tree.receiver(over), first.id)
        if named and isinstance(over, ast.Call) and isinstance(first, ast.Name)
        else (None, "")
    )


def _about(test: ast.expr, name: str) -> bool:
    """Whether a test asks for this name."""
    held = (
        tree.receiver(test)
        if isinstance(test, ast.Call)
        else test.comparators[0]
        if isinstance(test, ast.Compare)
        else test
    )
    return isinstance(held, ast.Name) and held.id == name


def _word(test: ast.expr) -> tuple[str, bool] | None:
    """The text of `name.startswith("a")`, with True, and of `"a" in name`, with False."""
    if isinstance(test, ast.Call) and follow.method(test) in ("startswith", "endswith") and len(test.args) == 1:
        text = tree.literal(test.args[0])
        return (text, follow.method(test) == "startswith") if isinstance(text, str) else None
    inside = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)
    text = tree.literal(test.left) if inside and isinstance(test, ast.Compare) else None
    return (text, False) if isinstance(text, str) else None


def _takes(word: tuple[str, bool], part: str) -> bool:
    """Whether a test may take a parameter of a part."""
    text, first = word
    if part.endswith(_ALONE):
        return part.startswith(text) if first else text in part
    if first:
        return f"{part}.".startswith(text) or text.startswith(f"{part}.")
    return text in f"{part}." or text.startswith(f"{part}.") or text.strip("._0123456789") in _INNER


def _layers(source: Source, model: ast.expr) -> list[str]:
    """The names of the layers with parameters that a model of this file holds; none where it holds anything else."""
    found = source.values(model)
    cls = classes.class_behind(source, found[0]) if len(found) == 1 else None
    return _layers_of(cls, alone=True) if cls is not None else []


def _layers_of(cls: Class, *, alone: bool = False) -> list[str]:
    """The layers of a class; with `alone` its own parameters too, whose names end in a mark: nothing follows a dot there."""
    parts = list[str]()
    for name, made in classes.own_attributes(cls).items():
        kinds = {one.name for held in made if held.value is not None for one in cls.source.values(held.value)}
        if alone and kinds == {"torch.nn.Parameter"}:
            parts.append(name + _ALONE)
        if kinds and kinds <= {*_LAYERS, "torch.nn.Sequential", "torch.nn.ModuleList"}:
            parts.append(name)
    return parts
