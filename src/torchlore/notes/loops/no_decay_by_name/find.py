"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import api, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_NORM = re.compile(r"(?:Batch|Layer|Group|Instance|RMS)Norm(?:\dd)?$")
_WORD = re.compile(r"^\.?(?:bn|ln|norm|layer_?norm|batch_?norm)\.?$", re.IGNORECASE)

WORDS = ("named_parameters",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_no_such_norm(source), *_numbered_norm(source))
    for test in source.all(ast.Compare):
        name, other = test.left, test.comparators[0]
        if not isinstance(name, ast.Name) or len(test.ops) != 1 or not _of_the_model(source, name):
            continue
        if isinstance(test.ops[0], ast.In | ast.NotIn):
            words = {tree.literal(one) for value in source.values(other) for one in getattr(value.node, "elts", ())}
        else:
            words = {tree.literal(other)} if isinstance(test.ops[0], ast.Eq | ast.NotEq) else set()
        home = tree.function(source, test)
        own = home is not None and home.name == "__init__"  # a layer looks at its own
        if "bias" in words and not own:
            yield source.hit(
                test,
                f"`{name.id}` is a full path such as `layers.0.bias`, so `{source.code(test)}` compares it with `bias` "
                "and hardly any parameter is spared: choose by `p.ndim <= 1`",
            )


def _no_such_norm(source: Source) -> Iterator[Hit]:
    """`any(word in name for word in ("bias", "LayerNorm.weight"))`, where the file's norms are called otherwise."""
    if "from_pretrained" in source.text or "transformers" in source.text:
        return
    norms = {
        one.attr
        for call, full in uses.calls_under(source, "torch.nn.")
        if full.rpartition(".")[2].endswith(("Norm", "Norm1d", "Norm2d"))
        for one in getattr(source.parents[call], "targets", ())
        if isinstance(one, ast.Attribute)
    }
    for call in source.calls("any") if norms else ():
        inner = call.args[0] if call.args and isinstance(call.args[0], ast.GeneratorExp) else None
        test = inner.elt if inner is not None else None
        if inner is None or not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In):
            continue
        home = tree.function(source, call)
        asked = [one for one in source.methods("named_parameters") if tree.function(source, one) is home]
        nets = [value for one in asked for value in source.values(tree.receiver(one))]
        if not nets or not all(api.is_kind(one.kind, "module") and one.node is not None for one in nets):
            continue  # whose norms are meant?
        boxes = [value for value in source.values(inner.generators[0].iter) if value.source is source]
        words = {str(tree.literal(one)) for value in boxes for one in getattr(value.node, "elts", ())}
        meant = [
            word.split(".")[0] for word in words if "norm" in word.lower() or word.lower().startswith(("ln", "bn"))
        ]
        missed = [one for one in norms if not any(word in one for word in meant)]
        if "bias" in words and meant and len(missed) == len(norms) and boxes and boxes[0].node is not None:
            told = f"no norm of this file is called `{meant[0]}` (they are `{min(norms)}`), so their scales are decayed: choose by `p.ndim <= 1`"
            seen = source.memo.setdefault("no_such_norm", set())
            if boxes[0].node not in seen:
                seen.add(boxes[0].node)
                yield source.hit(boxes[0].node, told)


def _numbered_norm(source: Source) -> Iterator[Hit]:
    """`"bn" in name`, where every norm of the file stands in a Sequential and is called `1` there."""
    made = [call for call, full in uses.calls_under(source, "torch.nn.") if _NORM.search(full)]
    named = any(isinstance(source.parents[one], ast.Assign | ast.keyword) for one in made)
    inside = made and all(_in_sequential(source, one) for one in made)
    if named or not inside or re.search(r"from_pretrained|torchvision|timm|OrderedDict|add_module", source.text):
        return
    for test in source.all(ast.Compare):
        word, name = tree.literal(test.left), test.comparators[0]
        asks = isinstance(test.ops[0], ast.In | ast.NotIn) and isinstance(word, str) and _WORD.search(word)
        if asks and isinstance(name, ast.Name) and _of_the_model(source, name):
            told = f"the norms of this file stand in a Sequential, where they are called by a number and not `{word}`: their scales are decayed"
            yield source.hit(test, f"{told}; choose by `p.ndim <= 1`")


def _in_sequential(source: Source, call: ast.Call) -> bool:
    up = source.parents[call]
    return isinstance(up, ast.Call) and source.name(up.func) == "torch.nn.Sequential"


def _of_the_model(source: Source, name: ast.Name) -> bool:
    """Whether the name comes from `model.named_parameters()` of a whole model, not of one layer."""
    for binding in scopes.reaching(source, name):
        call = binding.value
        if isinstance(call, ast.Name):
            call = next((one.value for one in scopes.reaching(source, call)), None)
        if isinstance(call, ast.Call) and source.name(call.func) in ("list", "sorted") and call.args:
            call = call.args[0]
        if not isinstance(call, ast.Call) or binding.path != (0,) or call.args or call.keywords:
            return False
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "named_parameters":
            return False
        owner = call.func.value
        made = [value.name for value in source.values(owner)]
        layer = any(one.startswith("torch.nn.") and one != "torch.nn.Sequential" for one in made)
        cls = tree.class_of(source, owner) if tree.dotted(owner) == "self" else None
        own = [source.name(base) for base in cls.bases] if cls is not None else []  # `class Sharded(nn.Linear)`
        layer |= any(
            one.startswith("torch.nn.") and one not in ("torch.nn.Module", "torch.nn.Sequential") for one in own
        )
        looped = isinstance(owner, ast.Name) and any(
            b.how in ("for", "comprehension") for b in scopes.reaching(source, owner)
        )
        asked = [source.code(test) for test, branch in tree.conditions(source, name) if branch]
        layer |= any(code.startswith(f"isinstance({source.code(owner)}, ") for code in asked)
        if layer or looped or not values.sure(source, owner, "module", weak=True):
            return False
    return bool(scopes.reaching(source, name))
