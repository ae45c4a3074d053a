"""The rule of loss-rewrapped."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, scopes, terms, tree, values
from torchlore.check.origin import origin
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_MAKERS = ("torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.autograd.Variable")

WORDS = ("backward|requires_grad",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("backward"):
        receiver = tree.receiver(call)
        made = values.made_by(source, receiver, *_MAKERS) or _reduced(source, receiver)
        if made is None or made.source is not source or not isinstance(made.node, ast.Call) or not made.node.args:
            continue
        if tree.literal(made.node.args[0]) is tree.UNKNOWN and not _filled(source, receiver):
            told = f"`{source.code(made.node)}` is a new number without a history, so `backward()` reaches no weight: call it on the loss itself"
            yield source.hit(made.node, told)
    yield from (*_listed(source), *_forced(source))


def _listed(source: Source) -> Iterator[Hit]:
    """`torch.tensor([criterion(o, t) for ...], requires_grad=True)`: the numbers of losses, which only a graph can train."""
    for call in source.calls(*_MAKERS[:3]) if "requires_grad" in source.text else ():
        asked = tree.literal(tree.argument(call, None, "requires_grad")) is True
        given = follow.followed(source, call.args[0]) if asked and call.args else None
        inner = given.elt if isinstance(given, ast.ListComp) else None
        one = given.elts[0] if isinstance(given, ast.List) and given.elts else inner
        state = values.state(source, one) if one is not None else None
        if state is not None and state.state == "loss":
            told = f"`{source.code(call)}` takes the numbers of the losses and leaves their history behind: write `torch.stack({source.code(call.args[0])})`"
            yield source.hit(call, told)


def _reduced(source: Source, loss: ast.expr) -> values.Value | None:
    """`torch.tensor(losses, requires_grad=True).sum()`, here or in the project's function that gives the loss."""
    home, node = origin(source, loss)
    while follow.method(node) in ("sum", "mean") and isinstance(node, ast.Call) and not home.name(node.func):
        home, node = origin(home, tree.receiver(node))
    asked = isinstance(node, ast.Call) and tree.literal(tree.argument(node, None, "requires_grad")) is True
    return values.made_by(home, node, *_MAKERS) if asked else None


def _filled(source: Source, node: ast.expr) -> bool:
    """Whether values with a history are written into the new tensor: `n[0] = m[0] ** 2`."""
    stores = (one for one in source.all(ast.Subscript) if isinstance(one.ctx, ast.Store))
    return isinstance(node, ast.Name) and any(tree.dotted(one.value) == node.id for one in stores)


def _forced(source: Source) -> Iterator[Hit]:
    """`loss.requires_grad_(True)` or `loss.requires_grad = True` on what a computation gave."""
    if ".backward(" not in source.text:
        return
    calls = [(call, tree.receiver(call)) for call in source.methods("requires_grad_")]
    on = [(call, name) for call, name in calls if not call.args or tree.literal(call.args[0]) is True]
    sets = [one for one in source.all(ast.Assign) if tree.literal(one.value) is True]
    marked = [(one, one.targets[0].value) for one in sets
              if isinstance(one.targets[0], ast.Attribute) and one.targets[0].attr == "requires_grad"]  # fmt: skip
    for call, given in on:
        if (hard := _decided(source, given)) is not None:
            told = f"`{source.code(hard)}` ends the history, and a flag does not give it a new one, so `backward()` reaches no weight: give the loss what the net returned"
            yield source.hit(call, told)
        if isinstance(given, ast.Call) and no_grad_around(source, given) and _the_one_net(source, given):
            told = f"`{source.code(given)}` was computed without a graph, and a flag does not give it one, so `backward()` reaches no weight: take it out of `no_grad`"
            yield source.hit(call, told, severity="warning")
    for node, name in [*on, *marked]:
        if isinstance(name, ast.Name) and "loss" in name.id.lower() and _computed(source, name):
            told = f"`{name.id}` has no history, and a flag does not give it one, so `backward()` reaches no weight: look for the `argmax`, `.item()`, `.detach()` or `no_grad` before it"
            attached = values.attached(source, name)
            if attached is not True:  # needless, where the history is there
                yield source.hit(node, told, severity=None if attached is False else "warning")


def _the_one_net(source: Source, call: ast.Call) -> bool:
    """Whether the function runs and trains this net alone, and wants no gradient of what it gives."""
    home = tree.function(source, call)
    turn = flow.events_of(source, home)
    runs = [one for one in turn if one.what == "forward" and not values.sure(one.source, one.expr or call.func, "loss")]
    mine = [one for one in runs if one.node is call]
    alone = bool(mine) and all(one.owner == mine[0].owner for one in runs)
    learns = {"backward", "step"} <= {one.what for one in turn}
    return alone and learns and re.search(r"\.grad\b|autograd\.grad", source.code(home or source.tree)) is None


def _decided(source: Source, node: ast.expr) -> ast.expr | None:
    """The `argmax` or comparison of a net's output in `net(x).argmax(1).float()`: no gradient passes it."""
    node = follow.followed(source, node)
    while isinstance(node, ast.Call):
        function = source.name(node.func) == "torch.argmax" and bool(node.args)
        inner = node.args[0] if function else tree.receiver(node)
        if function or follow.method(node) == "argmax":
            nets = (one for one in terms.reached(source, inner) if values.sure(source, one.func, "module", weak=True))
            return node if any(nets) else None
        node = follow.followed(source, inner)
    return None


def _computed(source: Source, name: ast.Name) -> bool:
    """Whether the loss comes out of a computation; a constant that others are added to is no harm."""
    found = [one.value for one in scopes.reaching(source, name)]
    makers = ("zeros", "zeros_like", "tensor", "ones", "new_zeros", "Parameter")
    last = [tree.dotted(one.func).rpartition(".")[2] if isinstance(one, ast.Call) else "" for one in found]
    return (
        bool(found)
        and all(isinstance(one, ast.Call | ast.BinOp | ast.UnaryOp) for one in found)
        and not set(last) & set(makers)
    )
