"""The rule of relu-before-cross-entropy."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, follow, losses, project, scopes, tree, uses, values
from torchlore.check.activation import activation_hit
from torchlore.check.source import Hit, Source

_SQUEEZED = {
    "relu": "a ReLU keeps them from saying no",
    "sigmoid": "a sigmoid leaves them between 0 and 1",
    "tanh": "a tanh leaves them between -1 and 1",
}
WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        given = values.state(source, loss.input) if loss.input is not None else None
        soft = given is None or "eaky" in given.name or follow.in_test(source, loss.call)
        if given is not None and given.state in _SQUEEZED and not soft:
            told = f"`{{loss}}` takes raw scores, and {_SQUEEZED[given.state]}: end the net in a linear layer"
            yield activation_hit(source, loss, given, told)
        last = _last_of_loop(source, loss.input) if given is None and loss.input is not None else None
        if last is not None and not follow.in_test(source, loss.call):
            told = "the last turn of this loop puts a ReLU behind the last layer too, and the cross entropy takes raw scores"
            yield source.hit(last, f"{told}: end the net in a linear layer")


def _last_of_loop(source: Source, scores: ast.expr) -> ast.expr | None:
    """The ReLU of `for a, b in zip(sizes, sizes[1:]): layers += [nn.Linear(a, b), nn.ReLU()]`, where nothing comes behind it."""
    run = follow.followed(source, scores)
    found = source.values(run.func) if isinstance(run, ast.Call) else ()
    made = found[0].node if len(found) == 1 and found[0].kind == "sequential" and found[0].source is source else None
    star = made.args[-1] if isinstance(made, ast.Call) and made.args else None
    name = star.value if isinstance(star, ast.Starred) else None
    home = tree.function(source, name) if isinstance(name, ast.Name) else None
    if home is None or not isinstance(name, ast.Name) or not isinstance(made, ast.Call):
        return None
    inside = [one for one in uses.names(source, name.id) if tree.function(source, one) is home and one is not name]
    puts = [put for one in inside if one.lineno < made.lineno and (put := _put(source, one)) is not None]
    makes = [one for one in inside if isinstance(one.ctx, ast.Store) and isinstance(source.parents[one], ast.Assign)]
    if not puts or len(puts) + len(makes) != len(inside) or len(makes) != 1:
        return None  # something else is done with the list
    last = max(puts, key=lambda put: (put.lineno, put.col_offset))
    loop = source.parents[tree.statement(source, last)]
    return last if isinstance(loop, ast.For) and _is_relu(source, last) else None


def _put(source: Source, name: ast.Name) -> ast.expr | None:
    """The last thing that `layers += [...]`, `layers.append(...)` or `layers.extend([...])` puts in."""
    up = source.parents[name]
    call = source.parents[up] if isinstance(up, ast.Attribute) and up.attr in ("append", "extend") else None
    if isinstance(call, ast.Call) and len(call.args) == 1:
        given = call.args[0]
        return given if isinstance(up, ast.Attribute) and up.attr == "append" else _end(given)
    return _end(up.value) if isinstance(up, ast.AugAssign) and up.target is name else None


def _end(given: ast.expr) -> ast.expr | None:
    return given.elts[-1] if isinstance(given, ast.List | ast.Tuple) and given.elts else None


def _is_relu(source: Source, put: ast.expr) -> bool:
    """`nn.ReLU()`, or `act()` where `act=nn.ReLU` stands in the function's own line and no call gives another."""
    if not isinstance(put, ast.Call):
        return False
    bound = scopes.reaching(source, put.func) if isinstance(put.func, ast.Name) else []
    arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
    home = tree.function(source, put)
    if isinstance(arg, ast.arg) and home is not None:
        made, word = project.as_function(source, home), calls.default_of(project.as_function(source, home), arg)
        kept = all(tree.lacks(call, None, arg.arg) for _, call, _ in calls.callers(made))
        return kept and word is not None and source.name(word) == "torch.nn.ReLU"
    return source.name(put.func) == "torch.nn.ReLU"
