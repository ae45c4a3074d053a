"""The rule of generator-loss-detached."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, losses, scopes, tree, uses, values
from torchlore.check.calls import callers, given_argument
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_NAME = regex(r"^(?:loss_?)?(?:g|gen|generator)_?(?:adv_?)?(?:loss)?$|^err_?g$|^adv_?loss$", re.IGNORECASE)

_PLAYER = regex(r"^(?:net_?)?[GD]$|^gen|^dis|critic", re.IGNORECASE)
_FAKE = regex(r"(^|_)(fakes?|gen|generated|synth\w*)(_|$|\d)", re.IGNORECASE)
_CRITIC = regex(r"(^|_)(d|dis|disc|discrim\w*|critic\w*)(_|$)|(opt|optim|optimizer|solver)_?d$", re.IGNORECASE)


_DISTANCES = ("L1Loss", "l1_loss", "MSELoss", "mse_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss")
WORDS = ("detach",)


def find(source: Source) -> Iterator[Hit]:
    for detach in source.methods("detach"):
        judged = _judged(source, detach)
        if judged is None or not _for_generator(source, judged):
            continue
        if _given_to_module(source, detach):
            fake = source.code(tree.receiver(detach))
            edit = edits.replace(source, detach, fake)
            message = f"the generator's loss gets no gradient through `{source.code(detach)}`: pass `{fake}`"
            yield source.hit(judged, message, edit, safe=False)
    yield from (*_in_helper(source), *_cut_when_made(source), *_cut_cycle(source))


def _judged(source: Source, detach: ast.Call) -> ast.Call | None:
    """`D(fake.detach())`, and `D(torch.cat([fake.detach(), condition], 1))`, where it is called a fake."""
    up = source.parents[detach]
    if isinstance(up, ast.List | ast.Tuple) and _FAKE.search(tree.dotted(tree.receiver(detach))):
        joined = source.parents[up]
        whole = isinstance(joined, ast.Call) and source.name(joined.func) == "torch.cat" and joined.args[:1] == [up]
        over = source.parents[joined] if whole else None
        return over if isinstance(over, ast.Call) and joined in over.args else None
    return up if isinstance(up, ast.Call) and detach in up.args else None


def _cut_cycle(source: Source) -> Iterator[Hit]:
    """`l1(back(there(x).detach()), x)`: the way there learns nothing from what comes back."""
    for loss in losses.loss_calls(source, *_DISTANCES) if any(source.methods("detach")) else ():
        run, goal = (follow.followed(source, one) if one is not None else None for one in (loss.input, loss.target))
        cut = run.args[0] if isinstance(run, ast.Call) and len(run.args) == 1 else None
        if not isinstance(cut, ast.Call) or follow.method(cut) != "detach" or not isinstance(loss.target, ast.Name):
            continue
        made = follow.followed(source, tree.receiver(cut))
        given = made.args[0] if isinstance(made, ast.Call) and made.args else None
        same = isinstance(given, ast.Name) and given.id == loss.target.id and goal is follow.followed(source, given)
        nets = (
            isinstance(made, ast.Call)
            and isinstance(run, ast.Call)
            and _is_net(source, made.func)
            and _is_net(source, run.func)
        )
        if same and nets and isinstance(made, ast.Call) and _one_step(source, made.func, run):
            told = f"`{source.code(made.func)}` learns nothing from this cycle through `{source.code(cut)}`: leave `detach()` out"
            yield source.hit(cut, told)


def _one_step(source: Source, func: ast.expr, run: ast.expr | None) -> bool:
    """Whether one optimizer holds both nets: a cycle is there to teach both."""
    other = run.func if isinstance(run, ast.Call) else func
    codes = [f"{source.code(one)}.parameters()" for one in (func, other)]
    made = (source.code(one) for one, _ in uses.calls_under(source, "torch.optim."))
    return codes[0] != codes[1] and any(all(code in one for code in codes) for one in made)


def _cut_when_made(source: Source) -> Iterator[Hit]:
    """`fake = G(z).detach()`, judged and compared with ones, in front of a step that is not the discriminator's."""
    made = [one for one in source.methods("detach") if isinstance(source.parents[one], ast.Assign)]
    for loss in losses.loss_calls(source) if made else ():
        judged = follow.followed(source, loss.input) if loss.input is not None else None
        if not isinstance(judged, ast.Call) or len(judged.args) != 1 or loss.target is None:
            continue
        cut = follow.followed(source, judged.args[0])
        net = tree.receiver(cut) if isinstance(cut, ast.Call) and cut in made else None
        named = isinstance(net, ast.Call) and _is_net(source, net.func) and _is_net(source, judged.func)
        judge = named and isinstance(net, ast.Call) and tree.dotted(judged.func) != tree.dotted(net.func)
        statement = tree.statement(source, loss.call)
        if (
            judge
            and _ones(source, loss.target)
            and _steps(source, statement)
            and not _teaches_critic(source, statement)
        ):
            told = f"the generator's loss gets no gradient through `{source.code(cut)}`: leave `detach()` out"
            yield source.hit(cut, told)


def _is_net(source: Source, func: ast.expr) -> bool:
    named = _PLAYER.search(tree.dotted(func).rpartition(".")[2])
    return named is not None or values.sure(source, func, "module", weak=True)


def _steps(source: Source, statement: ast.stmt) -> bool:
    home = tree.function(source, statement) or source.tree
    return any(tree.inside(source, one, home) and one.lineno > statement.lineno for one in source.methods("step"))


def _in_helper(source: Source) -> Iterator[Hit]:
    """A helper that detaches what it is given before it is judged, and that makes the generator's loss too."""
    for detach in source.methods("detach") if ".backward(" in source.text else ():
        home, name = tree.function(source, detach), tree.receiver(detach)
        uses = tree.under(source, home, ast.Name) if home is not None and isinstance(name, ast.Name) else []
        same = [one for one in uses if isinstance(name, ast.Name) and one.id == name.id]
        cut = bool(same) and all(
            isinstance(up := source.parents[one], ast.Attribute) and up.attr == "detach" for one in same
        )
        if home is None or not cut or not _given_to_module(source, detach):
            continue
        function = as_function(source, home)
        arg = next((one for one in tree.parameters(home) if isinstance(name, ast.Name) and one.arg == name.id), None)
        for caller, call, skip in callers(function) if arg is not None else ():
            given = given_argument(function, call, arg, skip) if arg is not None and caller is source else None
            held = source.parents[call]
            target = tree.dotted(held.targets[0]).rpartition(".")[2] if isinstance(held, ast.Assign) else ""
            if given is not None and _NAME.match(target) and values.attached(source, given) is True:
                told = f"`{target}` gets no gradient through `{source.code(detach)}`: pass it as it is, and detach it where the discriminator's loss is made"
                yield source.hit(detach, told)
                break


def _given_to_module(source: Source, detach: ast.Call) -> bool:
    call = _judged(source, detach)
    if call is None or values.maybe(source, call.func, "loss"):
        return False
    return _is_net(source, call.func)


def _for_generator(source: Source, judged: ast.Call) -> bool:
    """The verdict on the fake is compared with ones, or ends in something called the generator's loss."""
    statement = tree.statement(source, judged)
    name, home = statement.targets[0] if isinstance(statement, ast.Assign) else None, tree.function(source, judged)
    if isinstance(name, ast.Name) and _NAME.match(name.id) and name.id.lower() not in ("g", "gen"):
        return not _teaches_critic(source, statement)
    if "real" in source.code(judged).lower() or (home is not None and "disc" in home.name.lower()):
        return False  # what the discriminator says of the real ones is compared with ones too
    direct = isinstance(statement, ast.Assign) and statement.value is judged
    for loss in losses.loss_calls(source):
        verdict = loss.input
        same = verdict is judged
        if isinstance(verdict, ast.Name) and direct:
            same = [one.value for one in scopes.reaching(source, verdict)] == [judged]
        held = tree.statement(source, loss.call)
        named = tree.dotted(held.targets[0]).lower() if isinstance(held, ast.Assign) else ""
        own = named.startswith(("d_", "disc", "critic"))  # the discriminator's own loss, on real ones or on fakes
        if same and loss.target is not None and _ones(source, loss.target) and not own:
            return True
    return False


def _teaches_critic(source: Source, statement: ast.stmt) -> bool:
    """Whether the next step is one of the discriminator's optimizer: the name says whose pictures are judged."""
    home = tree.function(source, statement) or source.tree
    steps = [one for one in source.methods("step") if tree.inside(source, one, home) and one.lineno > statement.lineno]
    first = min(steps, key=lambda one: one.lineno, default=None)
    return first is not None and bool(_CRITIC.search(tree.dotted(tree.receiver(first)).rpartition(".")[2]))


def _ones(source: Source, target: ast.expr) -> bool:
    made = values.made_by(source, target, "torch.ones_like", "torch.ones")
    return made is not None
