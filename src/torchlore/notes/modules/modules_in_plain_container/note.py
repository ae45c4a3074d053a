"""Modules in a plain list or dict are invisible: not trained, not moved, not saved.

`nn.Module` registers what is assigned to an attribute if it is a Module or a Parameter. A Python list or dict is neither:
`parameters()`, `to()`, `state_dict()` and `train()` pass over the layers in it, the optimizer never gets them, and the
network learns with the rest.

Use `nn.ModuleList`, `nn.ModuleDict` (or `nn.Sequential`, `nn.ParameterList` for parameters).
"""

import ast
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import classes, containers, edits, modules, tree, values
from torchlore.check.classes import Attribute
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call, assignment

ROWS = ("module-modulelist",)
SOURCES = (
    "004:85-88",
    "https://github.com/pytorch/pytorch/issues/715",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["parameters"] == 2
    assert good["parameters"] == 8


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        if not classes.is_module(cls):
            continue
        for name, assigned in classes.own_attributes(cls).items():
            plain = [
                one
                for one in assigned
                if one.how == "assign"
                and not one.path
                and (containers.is_container(one.value) or containers.built(cls, one.value))
            ]
            if len(plain) != 1 or len([one for one in assigned if one.how == "assign"]) != 1:
                continue  # wrapped later
            held = list(containers.held(cls, plain[0])) + containers.built(cls, plain[0].value)
            if held and not containers.registered(cls, name, held) and _matter(source, held):
                if not containers.borrowed(plain[0].value) and not containers.by_hand(cls, name):
                    yield _hit(source, name, plain[0], "Module")
            elif held and all(values.sure(source, node, "parameter") and isinstance(node, ast.Call) for node in held):
                yield _hit(source, name, plain[0], "Parameter")


def _matter(source: Source, held: list[ast.expr]) -> bool:
    """Whether all of it are modules made here, and one of them has parameters."""
    if not all(values.sure(source, node, "module") for node in held):
        return False
    made = [value for node in held for value in source.values(node)]
    handed = any(
        isinstance(node, ast.Attribute)
        or (isinstance(node, ast.Name) and not any(value.node for value in source.values(node)))
        for node in held
    )
    return not handed and not all(modules.parameterless(value) for value in made)


def _hit(source: Source, name: str, one: Attribute, what: str) -> Hit:
    mapping = isinstance(one.value, ast.Dict | ast.DictComp) or (
        isinstance(one.value, ast.Call) and source.code(one.value.func) == "dict"
    )
    wrapper = edits.spelled(source, f"torch.nn.{what}{'Dict' if mapping else 'List'}")
    message = f"`self.{name}` hides its {'layers' if what == 'Module' else 'parameters'} from parameters(), to() and state_dict(): use `{wrapper}`"
    assert one.value is not None
    empty = source.code(one.value) in ("[]", "{}", "list()", "dict()")
    fix = (edits.replace(source, one.value, f"{wrapper}()"),) if empty else edits.wrap(source, one.value, f"{wrapper}(")
    return source.hit(tree.statement(source, one.node), message, *fix, safe=not mapping)


def watch(call: Annotated[Call, "forward"]) -> Iterator[Alarm]:
    if not call.times(1, call.memory.get("times", 0) < 3):
        return
    known, held = {id(one) for one in call.owner.modules()}, call.run.held()
    for module in call.owner.modules():
        for name, kept in vars(module).items():
            inside = kept.values() if isinstance(kept, dict) else kept if isinstance(kept, list | tuple) else ()
            lost = [one for one in inside if hasattr(one, "named_parameters") and id(one) not in known]
            free = [p for one in lost for p in one.parameters() if p.requires_grad and id(p) not in held]
            if free and not name.startswith("_"):
                told = f"{type(module).__name__}.{name} is a plain {type(kept).__name__} of modules: nobody trains, moves or saves them; use nn.Module{type(kept).__name__.title()}"
                yield Alarm(
                    told, at=assignment(type(module), name), evidence=f"{len(free)} parameters in {len(lost)} modules"
                )
