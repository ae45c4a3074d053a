"""Single events: which call or assignment is a backward pass, a step, a change of mode, and on which object."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, cast

from torchlore.check import api
from torchlore.check.follow import followed
from torchlore.check.identity import Identity, identity
from torchlore.check.iteration import unwrapped
from torchlore.check.scopes import reaching
from torchlore.check.tree import Loop, argument, literal
from torchlore.check.uses import set_attributes
from torchlore.check.values import kind, sure, values

if TYPE_CHECKING:
    from torchlore.check.project import Function
    from torchlore.check.source import Source


class Event(NamedTuple):
    """Something that happens to an object."""

    what: str  # see `KINDS`
    node: ast.AST  # the call or statement, in `source`
    source: Source
    at: ast.AST  # where it happens in the function that was asked about: the call that leads to it, or the node
    owner: Identity | None = None  # the object it happens to: the optimizer, the model, the loss
    expr: ast.expr | None = None  # the expression that names that object, in `source`
    detail: str = ""  # scaler, manual, closure, value, mode, weak ...
    loops: tuple[Loop, ...] = ()  # outermost first, those inside callees included
    conditions: tuple[tuple[ast.expr, bool], ...] = ()  # innermost first
    contexts: frozenset[str] = frozenset()  # full names of the context managers and decorators around it
    via: tuple[Function, ...] = ()  # the functions looked through to see it, outermost first

    @property
    def no_grad(self) -> bool:
        """Whether it runs under `no_grad` or `inference_mode`."""
        return bool(self.contexts & {"torch.no_grad", "torch.inference_mode"})


KINDS = {
    "forward": "a model is called (owner: the model)",
    "loss": "a loss is computed (owner: the loss module, None for a function)",
    "backward": "owner: the loss; detail scaler, accelerate, autograd",
    "zero_grad": "owner: the optimizer or model; detail manual for `p.grad = None`",
    "step": "an optimizer steps (owner: the optimizer); detail scaler, closure",
    "schedule": "a scheduler steps (owner: the scheduler)",
    "clip": "gradients are clipped (owner: the model where it can be seen); detail norm, value",
    "unscale": "scaler.unscale_ (owner: the optimizer)",
    "update": "scaler.update (owner: the scaler)",
    "train": "owner: the model; detail mode where the argument is not a constant",
    "eval": "owner: the model",
    "freeze": "requires_grad_(False) or requires_grad = False (owner: what is frozen)",
    "load": "load_state_dict (owner: the model, optimizer or scheduler)",
    "state": "state_dict() is taken (owner: of what)",
    "save": "torch.save",
    "item": ".item(), .tolist(), .cpu() or float() of a tensor (owner: the tensor)",
    "optimizer": "an optimizer is built (owner: what it is assigned to)",
    "scheduler": "a scheduler is built (owner: what it is assigned to)",
    "model": "a module is built (owner: what it is assigned to)",
    "replace": "a module's attribute is assigned a module (owner: the attribute)",
    "batches": "a loop over a loader begins (owner: the loader)",
}
_CLIPS = {"torch.nn.utils.clip_grad_norm_": "norm", "torch.nn.utils.clip_grad_value_": "value",
          "torch.nn.utils.clip_grad_norm": "norm", "torch.nn.utils.clip_grads_with_norm_": "norm"}  # fmt: skip


def may_be_event(node: ast.AST) -> bool:
    """Whether a statement is worth a look."""
    if isinstance(node, ast.For):
        return True
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)


def of_statement(source: Source, node: ast.AST) -> list[Event]:
    """Events of an assignment or of the start of a loop."""
    if isinstance(node, ast.For):
        inner = unwrapped(source, node.iter)
        loader = isinstance(inner, ast.Name | ast.Attribute | ast.Call) and sure(source, inner, "loader", weak=True)
        return [_event("batches", source, node, inner)] if loader else []
    found: list[Event] = []
    assign = cast("ast.Assign", node)
    for target in assign.targets:
        if isinstance(target, ast.Attribute) and target.attr == "grad" and _is_none(assign.value):
            found.append(_event("zero_grad", source, node, target.value, "manual"))
        elif isinstance(target, ast.Attribute) and target.attr == "requires_grad" and literal(assign.value) is False:
            found.append(_event("freeze", source, node, target.value))
        elif isinstance(target, ast.Attribute | ast.Subscript) and _replaces(source, target, assign.value):
            found.append(Event("replace", node, source, node, _path(source, target), target))
    return found


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _replaces(source: Source, target: ast.Attribute | ast.Subscript, value: ast.expr) -> bool:
    if isinstance(target.value, ast.Name) and target.value.id == "self":
        return False
    made = isinstance(value, ast.Call) or (isinstance(value, ast.Name) and _made_here(source, value))
    return made and sure(source, value, "module") and sure(source, target.value, "module", weak=True)


def _made_here(source: Source, name: ast.Name) -> bool:
    """`new = nn.Linear(...)`, in the function that puts it into a model."""
    bound = reaching(source, name)
    return bool(bound) and all(
        isinstance(one.value, ast.Call) and one.how == "assign" and not one.path for one in bound
    )


def _path(source: Source, target: ast.expr) -> Identity | None:
    """`model.head[2]` as the variable and the way from it, so that it begins with the model's own identity."""
    names: list[str] = []
    while isinstance(target, ast.Attribute | ast.Subscript):
        of_self = isinstance(target.value, ast.Name) and target.value.id == "self"
        if isinstance(target, ast.Attribute) and of_self:
            break
        names.append(target.attr if isinstance(target, ast.Attribute) else f"[{literal(target.slice)!r}]")
        target = target.value
    root = identity(source, target)
    return (*root, *reversed(names)) if root else None


def _event(what: str, source: Source, node: ast.AST, expr: ast.expr | None, detail: str = "") -> Event:
    owner = identity(source, expr) if expr is not None else None
    return Event(what, node, source, node, owner, expr, detail)


def of_call(source: Source, call: ast.Call) -> Event | None:
    """The event a call is, if it is one."""
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr in _BY_METHOD:
        return _BY_METHOD[func.attr](source, call, func)
    full = source.name(func)
    if full in _CLIPS:
        return _event("clip", source, call, _clipped(call), _CLIPS[full])
    if full in api.LOSS_FUNCTIONS:
        return Event("loss", call, source, call)
    if full in ("torch.save", "torch.autograd.backward"):
        what = "save" if full == "torch.save" else "backward"
        return _event(what, source, call, call.args[0] if call.args else None, "autograd" if what == "backward" else "")
    if full.startswith("torch"):
        return _built(source, call, full)
    if full == "setattr" and len(call.args) == 3 and sure(source, call.args[2], "module"):
        root, name = identity(source, call.args[0]), literal(call.args[1])
        owner = (*root, name if isinstance(name, str) else source.code(call.args[1])) if root else None
        own = isinstance(call.args[0], ast.Name) and call.args[0].id == "self"
        return None if own else Event("replace", call, source, call, owner, call.args[0])
    if full in ("float", "int") and call.args and sure(source, call.args[0], "tensor"):
        return _event("item", source, call, call.args[0])
    return _called_object(source, call, full)


def switches(source: Source, event: Event) -> list[Event]:
    """`for net in (encoder, decoder): net.eval()` switches each of them; of a list that is not seen, some we cannot name."""
    name = event.expr
    if event.what not in ("train", "eval") or not isinstance(name, ast.Name):
        return [event]
    loop = source.parents.get(source.parents.get(source.parents[name]))  # type: ignore[arg-type]  # its call, and the statement
    loop = source.parents.get(loop) if isinstance(loop, ast.Expr) else None
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or loop.target.id != name.id:
        return [event]
    if not all(isinstance(one, ast.Expr) for one in loop.body):
        return [event]
    nets = loop.iter.elts if isinstance(loop.iter, ast.List | ast.Tuple) else None
    if nets is None:
        return [event._replace(owner=None)]
    return [event._replace(owner=identity(source, one), expr=one) for one in nets]


def _clipped(call: ast.Call) -> ast.expr | None:
    given = argument(call, 0, "parameters")
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "parameters":
        return given.func.value
    return given


def _built(source: Source, call: ast.Call, full: str) -> Event | None:
    made = api.kind_of_call(full)
    if made in ("optimizer", "scheduler"):
        return _event(made, source, call, _target(source, call))
    return _event("model", source, call, _target(source, call)) if made in ("module", "sequential") else None


def _target(source: Source, call: ast.Call) -> ast.expr | None:
    up = source.parents.get(call)
    return up.targets[0] if isinstance(up, ast.Assign) and len(up.targets) == 1 else None


def _called_object(source: Source, call: ast.Call, full: str) -> Event | None:
    """A model or a loss is called; a class of the project that is one is built."""
    func = call.func
    if full and full.partition(".")[0] != source.module.partition(".")[0] and "." not in full:
        return None  # a builtin
    if not isinstance(func, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return None
    if isinstance(func, ast.Call) and not isinstance(func.func, ast.Name | ast.Attribute):
        return None
    if isinstance(func, ast.Attribute) and is_plain(source, func):
        return None
    found = kind(source, func, weak=True) - {"none"}  # `teacher=None` is not what is called
    if found == {"class"}:
        made = kind(source, call)
        what = next(
            (k for k in ("optimizer", "scheduler") if made == {k}), "model" if sure(source, call, "module") else ""
        )
        return _event(what, source, call, _target(source, call)) if what else None
    if found == {"function"} and all(one.name in api.LOSS_FUNCTIONS for one in values(source, func)):
        return Event("loss", call, source, call)
    if found == {"loss"}:
        return _event("loss", source, call, func, _strength(source, func))
    if found and all(api.is_kind(one, "module") for one in found):
        return _event("forward", source, call, func, _strength(source, func))
    return None


def is_plain(source: Source, func: ast.Attribute) -> bool:
    """`x.numel`, a method of torch or Python that is no object: nothing in the file is called so."""
    return func.attr in api.NO_PARTS and func.attr not in set_attributes(source)


def _strength(source: Source, func: ast.expr) -> str:
    return "" if kind(source, func) else "weak"


def _backward(source: Source, call: ast.Call, func: ast.Attribute) -> Event | None:
    owner = func.value
    scaled = followed(source, owner)
    if isinstance(scaled, ast.Call) and isinstance(scaled.func, ast.Attribute) and scaled.func.attr == "scale":
        return _event("backward", source, call, scaled.args[0] if scaled.args else None, "scaler")
    if source.name(func) == "torch.autograd.backward":
        return _event("backward", source, call, call.args[0] if call.args else None, "autograd")
    named = sure(source, owner, "accelerator", weak=True) or (isinstance(owner, ast.Name) and owner.id == "fabric")
    if named and call.args:
        return _event("backward", source, call, call.args[0], "accelerate")
    if source.name(func) or any(value.kind in ("object", "class") for value in values(source, owner)):
        return None
    return _event("backward", source, call, owner)


def _step(source: Source, call: ast.Call, func: ast.Attribute) -> Event | None:
    owner = func.value
    found = kind(source, owner, weak=True) - {"none"}
    if found == {"scaler"}:
        return _event("step", source, call, call.args[0] if call.args else None, "scaler")
    if found == {"optimizer"}:
        return _event("step", source, call, owner, "closure" if call.args or call.keywords else "")
    if found == {"scheduler"}:
        return _event("schedule", source, call, owner)
    return None


def _zero(source: Source, call: ast.Call, func: ast.Attribute) -> Event:
    return _event("zero_grad", source, call, func.value)


def _zero_in_place(source: Source, call: ast.Call, func: ast.Attribute) -> Event | None:
    """`p.grad.zero_()` and `p.grad.data.zero_()`."""
    node = func.value
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return (
        _event("zero_grad", source, call, node.value, "manual")
        if isinstance(node, ast.Attribute) and node.attr == "grad"
        else None
    )


def _mode(source: Source, call: ast.Call, func: ast.Attribute) -> Event | None:
    known = {value.kind for value in values(source, func.value)} - {""}
    if known and not any(api.is_kind(one, "module") for one in known):
        return None
    if func.attr == "eval":
        return _event("eval", source, call, func.value) if not call.args and not call.keywords else None
    mode = argument(call, 0, "mode")
    if mode is None:
        return _event("train", source, call, func.value) if not call.args and not call.keywords else None
    constant = literal(mode)
    if constant is False:
        return _event("eval", source, call, func.value)
    return _event("train", source, call, func.value, "" if constant is True else "mode")


def _unscale(source: Source, call: ast.Call, func: ast.Attribute) -> Event:  # noqa: ARG001  # the shape all handlers have
    return _event("unscale", source, call, call.args[0] if call.args else None)


def _update(source: Source, call: ast.Call, func: ast.Attribute) -> Event | None:
    return _event("update", source, call, func.value) if sure(source, func.value, "scaler", weak=True) else None


def _read(source: Source, call: ast.Call, func: ast.Attribute) -> Event | None:
    if func.attr in ("cpu", "numpy", "tolist") and not sure(source, func.value, "tensor"):
        return None
    return _event("item", source, call, func.value, func.attr)


def _state(source: Source, call: ast.Call, func: ast.Attribute) -> Event:
    return _event("load" if func.attr == "load_state_dict" else "state", source, call, func.value)


def _freeze(source: Source, call: ast.Call, func: ast.Attribute) -> Event | None:
    frozen = literal(argument(call, 0, "requires_grad")) is False
    return _event("freeze", source, call, func.value) if frozen else None


def _clip_method(source: Source, call: ast.Call, func: ast.Attribute) -> Event | None:
    """`accelerator.clip_grad_norm_(…)`, `model.clip_grad_norm_(…)`; torch's own functions go by name."""
    full = source.name(func)
    if full in _CLIPS:
        return _event("clip", source, call, _clipped(call), _CLIPS[full])
    return _event("clip", source, call, _clipped(call), "method")


_BY_METHOD = {
    "backward": _backward, "step": _step, "zero_grad": _zero, "zero_": _zero_in_place, "train": _mode, "eval": _mode,
    "unscale_": _unscale, "update": _update, "item": _read, "cpu": _read, "numpy": _read, "tolist": _read,
    "load_state_dict": _state, "state_dict": _state, "requires_grad_": _freeze, "clip_grad_norm_": _clip_method,
    "clip_grad_value_": _clip_method, "manual_backward": lambda source, call, func: _event(  # noqa: ARG005  # the shape all handlers have
        "backward", source, call, call.args[0] if call.args else None, "lightning"),
}  # fmt: skip
