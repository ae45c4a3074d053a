"""`model.forward(x)` skips the hooks; `model(x)` runs them.

Calling the module runs `forward` and everything that was hung on it: forward and pre-forward hooks (feature extraction,
profilers, weight and spectral norm of the old kind, pruning), lazy initialisation, and the machinery of DDP and FSDP. With
`model.forward(x)` none of that happens, in silence: a captured feature is missing, a pruned weight is used unpruned, and
under DDP gradients are not synchronised.

```python
scores = model(images)
```

`super().forward(x)` inside a subclass is right: there the call has run the hooks already.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = (
    "https://github.com/Lightning-AI/pytorch-lightning/issues/1209",
    "https://github.com/allenai/allennlp/issues/456",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_WRITTEN = regex(r"\.forward\(")
_HOOKS = ("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook")
_NORMS = ("torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm")


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of

    assert bad["captured"] == 0
    assert good["captured"] == 3
    assert error_of(lambda: nn.LazyLinear(2).forward(torch.ones(1, 3))) != ""


WORDS = ("forward",)


def find(source: Source) -> Iterator[Hit]:
    calls = [(call, owner) for call, owner in _direct(source) if not _own(owner)]
    hooked = {source.code(tree.receiver(one)) for one in source.methods(*_HOOKS)} if calls else set()
    hooked |= {source.code(one.args[0]) for one in source.calls(*_NORMS) if one.args} if calls else set()
    for call, owner in calls:
        if isinstance(owner, ast.Name | ast.Attribute | ast.Subscript) and values.sure(source, owner, "module"):
            code = source.code(owner)
            message = f"`{code}.forward(...)` skips the module's hooks: write `{code}(...)`"
            edit = edits.delete_behind(source, owner, len(".forward"))
            sure = (
                (code in hooked or _by_name(source, owner))
                and not tree.is_shown(source, call)
                and not follow.in_test(source, call)
            )
            yield source.hit(call, message, edit, severity="warning" if sure else "hint")


def _direct(source: Source) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that are written `net.forward(x)`, with the net; the tree has `net(x)` for most of them."""
    lines = {source.place(one.start())[0] for one in _WRITTEN.finditer(source.text)}
    for call in source.all(ast.Call) if lines else ():
        func = call.func
        owner = func.value if isinstance(func, ast.Attribute) and func.attr == "forward" else func
        if owner.end_lineno in lines and source.text.startswith(
            ".forward(", source.span(owner)[1]
        ):  # not behind a bracket or on the next line
            yield call, owner


def _by_name(source: Source, owner: ast.expr) -> bool:
    """`getattr(net, "block").register_forward_hook(...)`, the name also from a list: `self.block` is hooked from outside."""
    hooked = [follow.followed(source, tree.receiver(one)) for one in source.methods(*_HOOKS)]
    named = any(isinstance(one, ast.Call) and source.name(one.func) == "getattr" for one in hooked)
    own = isinstance(owner, ast.Attribute) and tree.dotted(owner) == f"self.{owner.attr}"
    words = (one.value for one in source.all(ast.Constant)) if named and own else ()
    return any(word == owner.attr for word in words) if isinstance(owner, ast.Attribute) else False


def _own(owner: ast.expr) -> bool:
    """`self.forward(...)`, `super().forward(...)` and `Base.forward(self, ...)` are the class's own business."""
    if isinstance(owner, ast.Call):
        return True
    return isinstance(owner, ast.Name) and (owner.id in ("self", "cls") or owner.id[:1].isupper())
