"""What a running program shows of it."""

import weakref
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[
        Call,
        "grad",
        "norm",
        "linalg_vector_norm",
        "pow",
        "square",
        "sqrt",
        "sum",
        "mean",
        "view",
        "reshape",
        "flatten",
        "sub",
        "rsub",
        "mul",
        "abs",
        "relu",
        "add",
    ],
) -> Alarm | None:
    marked = call.notes.setdefault("marked", {})  # what was computed from gradients without a graph
    if call.name == "grad":
        given = call.argument(1, "inputs")
        inputs = given if isinstance(given, list | tuple) else [given]
        plain = not call.argument(4, "create_graph", False) and all(type(one).__name__ != "Parameter" for one in inputs)
        marked.clear()
        marked.update({id(one): weakref.ref(one) for one in call.result or () if plain and one is not None})
        call.notes["line"] = call.place
        return None
    used = [one for one in call.args[:2] if id(one) in marked and marked[id(one)]() is one]
    if not used or not hasattr(call.result, "requires_grad"):
        return None
    if call.name != "add" or not call.result.requires_grad:
        marked[id(call.result)] = weakref.ref(call.result)
        return None
    return (
        None
        if call.result.dim()
        else Alarm(
            "a penalty on gradients is added to the loss and has no graph, so it teaches nothing; pass create_graph=True to "
            "torch.autograd.grad",
            at=call.notes["line"],
        )
    )
