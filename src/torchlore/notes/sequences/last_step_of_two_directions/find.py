"""The rule of last-step-of-two-directions."""

import ast
from collections.abc import Iterator

from torchlore.check import scopes, stated, tree, values
from torchlore.check.source import Hit, Source

_RNNS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")

WORDS = ("bidirectional",)


def find(source: Source) -> Iterator[Hit]:
    for taken in source.all(ast.Subscript):
        if not isinstance(taken.ctx, ast.Load) or not isinstance(taken.value, ast.Name):
            continue
        if isinstance(source.parents[taken], ast.Expr | ast.Compare):
            continue  # only shown
        parts = taken.slice.elts if isinstance(taken.slice, ast.Tuple) else [taken.slice]
        made, path = _rnn(source, taken.value)
        if made is None:
            continue
        first = tree.literal(tree.argument(made, None, "batch_first")) is True
        at = 1 if first else 0
        last_step = path == (0,) and len(parts) > at and tree.literal(parts[at]) == -1
        whole = all(
            isinstance(one, ast.Slice) and one.lower is one.upper is None for i, one in enumerate(parts) if i != at
        )
        if last_step and whole and not _other_end(source, taken, at):
            code = source.code(taken)
            yield source.hit(
                taken, f"the backward half of `{code}` has read the last step alone: join `h_n[-2]` and `h_n[-1]`"
            )
        elif path in ((1,), (1, 0)) and len(parts) == 1 and tree.literal(parts[0]) == -1 and not _both(source, taken):
            told = (
                f"`{source.code(taken)}` is the backward direction alone: join it with `{source.code(taken.value)}[-2]`"
            )
            yield source.hit(taken, told)
        elif path in ((1,), (1, 0)) and len(parts) == 1 and _first_layer(source, taken, made):
            code = source.code(taken.value)
            told = f"`{code}[0]` and `{code}[1]` are the states of the first layer, which no later one has read"
            yield source.hit(taken, f"{told}: join `{code}[-2]` and `{code}[-1]`")


def _first_layer(source: Source, taken: ast.Subscript, made: ast.Call) -> bool:
    """Whether `h[0]`, joined with `h[1]` and nothing else, is that of a layer below others."""
    layers = tree.literal(tree.argument(made, 2, "num_layers"))
    home = tree.function(source, taken) or source.tree
    same = [
        one
        for one in tree.under(source, home, ast.Name)
        if one.id == tree.dotted(taken.value) and isinstance(one.ctx, ast.Load)
    ]
    ups = [source.parents[one] for one in same]
    read = [tree.literal(up.slice) if isinstance(up, ast.Subscript) else None for up in ups]
    return (
        isinstance(layers, int)
        and layers > 1
        and tree.literal(taken.slice) == 0
        and sorted(map(str, read)) == ["0", "1"]
    )


def _rnn(source: Source, name: ast.Name) -> tuple[ast.Call | None, tuple[int, ...]]:
    """The constructor of the bidirectional layer that gave this, and which of its results it is."""
    bound = scopes.reaching(source, name)
    call = bound[0].value if len(bound) == 1 and bound[0].how == "assign" else None
    made = values.made_by(source, call.func, *_RNNS) if isinstance(call, ast.Call) else None
    node = made.node if made is not None and isinstance(made.node, ast.Call) and made.source is source else None
    asked = tree.argument(node, None, "bidirectional") if node is not None else None
    both = asked is not None and all(one is True for one in stated.constants(source, asked))
    return (node if both else None), bound[0].path if bound else ()


def _other_end(source: Source, taken: ast.Subscript, at: int) -> bool:
    """Whether the first step of the same outputs is taken as well."""
    home = tree.function(source, taken) or source.tree
    for other in tree.under(source, home, ast.Subscript):
        parts = other.slice.elts if isinstance(other.slice, ast.Tuple) else [other.slice]
        if tree.dotted(other.value) == tree.dotted(taken.value) and len(parts) > at and tree.literal(parts[at]) == 0:
            return True
    return False


def _both(source: Source, taken: ast.Subscript) -> bool:
    """Whether another entry of the states is used in the function, or one is left over by a sum or a mean."""
    home = tree.function(source, taken) or source.tree
    name = tree.dotted(taken.value)
    others = [one for one in tree.under(source, home, ast.Name) if one.id == name and isinstance(one.ctx, ast.Load)]
    return len(others) > 1
