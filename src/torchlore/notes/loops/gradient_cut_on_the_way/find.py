"""The rule of gradient-cut-on-the-way."""

import ast
from collections import Counter
from collections.abc import Iterator

from torchlore.check import api, calls, classes, flow, follow, terms, trained, tree, uses, values
from torchlore.check.project import Class, as_function
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_CUTS = ("detach", "data", "detach_", "numpy", "tolist", "item")
_PASSES = {"softmax", "log_softmax", "relu", "tanh", "sigmoid", "squeeze", "flatten", "view", "reshape", "cpu", "float", "mean", "exp",
           "max_pool1d", "max_pool2d", "avg_pool2d", "leaky_relu", "gelu", "silu", "elu", "dropout", "normalize"}  # fmt: skip
_COPIES = ("torch.tensor", "numpy.array", "numpy.asarray")


_DRAWN = {f"torch.distributions.{name}" for name in ("Normal", "MultivariateNormal", "Independent", "LogNormal", "Laplace", "Beta",
          "Gamma", "Dirichlet", "LowRankMultivariateNormal")}  # fmt: skip

WORDS = ("backward|*distributions*",)


def find(source: Source) -> Iterator[Hit]:
    yield from _drawn(source) if "distributions" in source.text and ".sample(" in source.text else ()
    words = (*(f".{cut}" for cut in _CUTS), "tensor(", "array(", ").float()", ").long()", ").to(")
    if ".backward(" not in source.text or not any(word in source.text for word in words):
        return
    yield from (*_in_the_open(source), *_through_numpy(source))
    trains = any(api.kind_of_call(full) == "optimizer" for _, full in uses.calls_under(source, "torch.optim."))
    for cls in classes.all_classes(source) if trains else ():
        forward = classes.methods(cls).get("forward") if classes.is_module(cls) else None
        homes = {forward, *_run_by(source, cls, forward)} if forward is not None else set()
        for name in classes.own_attributes(cls) if homes else ():
            runs = trained.calls_of(source, cls, name)
            cuts = [(one, cut) for one in runs if (cut := _cut(source, one)) is not None]
            quiet = [one for one in runs if no_grad_around(source, one)]
            here = [cut for one, cut in cuts if tree.function(source, one) in homes and not _asked_for(source, cut)]
            if not here or len(cuts) + len(quiet) < len(runs) or not trained.fresh(source, cls, name):
                continue
            if trained.given_whole(source, cls):
                told = f"nothing of the loss comes back through this to `self.{name}`, so it never learns: take it off, or freeze it by name"
                yield source.hit(here[0], told, severity="warning")


def _drawn(source: Source) -> Iterator[Hit]:
    """`z = q.sample()` of a distribution that layers make, and `decoder(z)` after it, where no `log_prob` takes its place."""
    if "log_prob" in source.text or not flow.may_train(source):
        return
    for call in source.methods("sample"):
        home, made = tree.function(source, call), _distribution(source, tree.receiver(call))
        if home is None or made is None or no_grad_around(source, call) or not _trains_through(source, home):
            continue
        learned = any(_runs_layer(made[0], one) for arg in made[1].args for one in terms.reached(made[0], arg))
        if learned and _decoded(source, call, home):
            told = f"`sample()` gives numbers without a graph, so nothing behind it teaches what made `{source.code(tree.receiver(call))}`: write `rsample()`"
            yield source.hit(call, told, severity="warning")


def _distribution(source: Source, node: ast.expr) -> tuple[Source, ast.Call] | None:
    """The call of a class that has `rsample`, under a name or given back by a function."""
    made = follow.followed(source, node)
    inner = flow.called(source, made) if isinstance(made, ast.Call) else None
    if inner is not None:
        backs = calls.returned(inner)
        return _distribution(inner.source, backs[0]) if len(backs) == 1 and backs[0] is not made else None
    if not isinstance(made, ast.Call) or source.name(made.func).replace(".normal.", ".") not in _DRAWN:
        return None
    first = made.args[0] if made.args and source.name(made.func).endswith("Independent") else None
    return _distribution(source, first) if first is not None else (source, made)


def _runs_layer(source: Source, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name | ast.Attribute) and values.sure(source, call.func, "module", "sequential")


def _decoded(source: Source, call: ast.Call, home: tree.FunctionNode) -> bool:
    """Whether a layer is given what was drawn."""
    up = source.parents[call]
    name = up.targets[0].id if isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Name) else ""
    given = [one for one in tree.under(source, home, ast.Call) if _runs_layer(source, one)]
    return any(arg is call or (name and tree.dotted(arg) == name) for one in given for arg in one.args)


def _trains_through(source: Source, home: tree.FunctionNode) -> bool:
    """`forward`, a function with a backward pass, or one that such a function calls."""
    passes = {tree.function(source, one) for one in source.methods("backward")}
    around = [
        tree.function(where, one) for where, one, _ in calls.callers(as_function(source, home)) if where is source
    ]
    return (
        home.name == "forward"
        or home in passes
        or any(one in passes or getattr(one, "name", "") == "forward" for one in around)
    )


def _asked_for(source: Source, cut: ast.AST) -> bool:
    """`def forward(self, x, detach=False)` and `if detach: h = h.detach()`: the caller chooses."""
    home = tree.function(source, cut)
    names = {arg.arg for arg in tree.parameters(home)} - {"self"} if home is not None else set()
    return any(isinstance(test, ast.Name) and test.id in names for test, _ in tree.conditions(source, cut))


def _run_by(source: Source, cls: Class, forward: tree.FunctionNode) -> list[tree.FunctionNode]:
    """The methods of a class that `forward` runs: `h = self.encode(x)`."""
    own = classes.methods(cls)
    called = (tree.dotted(one.func) for one in tree.under(source, forward, ast.Call))
    return [own[name] for one in called if (name := one.removeprefix("self.")) != one and name in own]


def _in_the_open(source: Source) -> Iterator[Hit]:
    """`fake = first(x)`, called in this one place, where all that is done with `fake` is `fake.detach()`."""
    given = {tree.dotted(tree.receiver(one)): one for one in source.methods("parameters") if _to_optimizer(source, one)}
    for assign in uses.assigns(source, ast.Name, ast.Call) if given else ():
        call, target = assign.value, assign.targets[0]
        if not isinstance(call, ast.Call) or not isinstance(target, ast.Name):
            continue
        name = tree.dotted(call.func)
        if not any(name == one or name.startswith(f"{one}.") for one in given if one):
            continue
        reads = [one for one in uses.names(source, target.id) if isinstance(one.ctx, ast.Load)]
        ups = [source.parents[one] for one in reads]
        cuts = [one for one in ups if isinstance(one, ast.Attribute) and one.attr in ("detach", "data")]
        if not cuts or len(cuts) < len(ups):
            continue
        called = Counter(tree.dotted(one.func) for one in source.all(ast.Call))
        root = next(one for one in given if one and (name == one or name.startswith(f"{one}.")))
        alone = called[name] == 1 and (root == name or not called[root])
        if not alone or not tree.loops(source, call) or not values.sure(source, call.func, "module"):
            continue
        if not no_grad_around(source, call) and flow.may_train(source):
            told = f"nothing of the loss comes back through this to `{name}`, which the optimizer holds: it never learns; take it off"
            yield source.hit(cuts[0], told, severity="warning")


def _through_numpy(source: Source) -> Iterator[Hit]:
    """`loss(torch.from_numpy(a.data.numpy()[hard]), torch.from_numpy(b.data.numpy()[hard]))`: predictions that were picked as arrays."""
    picked: dict[ast.AST, ast.expr] = {}
    for call in (
        source.calls("torch.from_numpy", "torch.tensor", "torch.as_tensor") if ".numpy()" in source.text else ()
    ):
        given = call.args[0] if len(call.args) == 1 else None
        array = given.value if isinstance(given, ast.Subscript) else given
        if isinstance(array, ast.Call) and follow.method(array) == "numpy":
            whole = follow.peeled(tree.receiver(array), ("detach", "cpu"))
            whole = whole.value if isinstance(whole, ast.Attribute) and whole.attr == "data" else whole
            if values.attached(source, follow.peeled(whole, ("detach", "cpu"))) is True and not no_grad_around(
                source, call
            ):
                picked[call] = whole
    homes = {tree.function(source, one) for one in source.methods("backward")} if len(picked) > 1 else set()
    for call in source.all(ast.Call) if homes else ():
        made = [follow.followed(source, one) for one in call.args]
        if len(made) < 2 or tree.function(source, call) not in homes or any(one not in picked for one in made):
            continue
        known = values.attached(source, call) is False  # loss-term-without-gradient tells of it
        if not known and ("loss" in source.code(call.func).lower() or values.sure(source, call, "tensor")):
            code = source.code(picked[made[0]])
            told = f"an array has no graph: nothing of this loss comes back to `{code}`, which learns nothing from it"
            yield source.hit(made[0], f"{told}: pick from the tensor, `{code}[...]`", severity="warning")


def _to_optimizer(source: Source, node: ast.AST) -> bool:
    calls = [up for up in tree.ancestors(source, node) if isinstance(up, ast.Call)]
    return any(api.kind_of_call(source.name(call.func)) == "optimizer" for call in calls)


def _cut(source: Source, call: ast.Call) -> ast.AST | None:
    """`self.encoder(x).detach()`, or the only use of `h = self.encoder(x)` is `h.detach()`; also behind an activation."""
    whole = _activated(source, call)
    if follow.takes_packed(source, call):
        return None
    if (cut := _cut_here(source, whole)) is not None:
        return cut
    up = source.parents[whole]
    target = up.targets[0] if isinstance(up, ast.Assign) and len(up.targets) == 1 else None
    home = tree.function(source, call)
    if isinstance(target, ast.Tuple) and home is not None:
        return _all_cut(source, target, home)
    if not isinstance(target, ast.Name) or home is None:
        return None
    names = [one for one in tree.under(source, home, ast.Name) if one.id == target.id and one is not target]
    over = [one for one in names if one.lineno > call.lineno and isinstance(one.ctx, ast.Load)]
    first = _cut_here(source, _activated(source, over[0])) if over else None
    again = isinstance(statement := tree.statement(source, first), ast.Assign) if first is not None else False
    same = again and isinstance(statement, ast.Assign) and tree.dotted(statement.targets[0]) == target.id
    return first if first is not None and (len(over) == 1 or same) else None


def _all_cut(source: Source, target: ast.Tuple, home: tree.FunctionNode) -> ast.AST | None:
    """`_, h = self.rnn(x)`, of which nothing is read but `h.detach()`."""
    names = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
    read = [one for one in tree.under(source, home, ast.Name) if one.id in names and isinstance(one.ctx, ast.Load)]
    over = [one for one in read if one.lineno > target.lineno]
    cuts = [_cut_here(source, _activated(source, one)) for one in over]
    return cuts[0] if cuts and len(over) == len(read) and all(one is not None for one in cuts) else None


def _cut_here(source: Source, node: ast.expr) -> ast.AST | None:
    """`.detach()`, `.tolist()` and the like behind a value, or `torch.tensor(...)` around it."""
    up = source.parents[node]
    if isinstance(up, ast.Attribute):
        return up if up.attr in _CUTS else None
    if isinstance(up, ast.Compare) and isinstance(up.ops[0], ast.Gt | ast.Lt | ast.GtE | ast.LtE):
        cast = source.parents[up]  # (x > 0.5).float()
        return (
            up if isinstance(cast, ast.Attribute) and cast.attr in ("float", "long", "int", "to", "type_as") else None
        )
    copied = isinstance(up, ast.Call) and up.args[:1] == [node] and source.name(up.func) in _COPIES
    return up if copied else None


def _activated(source: Source, node: ast.expr) -> ast.expr:
    """`h.softmax(1)` or `torch.relu(h)` around `h`."""
    up = source.parents[node]
    call = source.parents[up] if isinstance(up, ast.Attribute) else up
    if not isinstance(call, ast.Call):
        return node
    method = isinstance(up, ast.Attribute) and call.func is up and up.attr in _PASSES
    full = source.name(call.func)
    passed = node in call.args and full.startswith("torch.") and full not in _COPIES
    return _activated(source, call) if method or passed else node
