"""The rule of torch-seed-alone."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_DRAWS = {"random", "randint", "randrange", "choice", "choices", "sample", "shuffle", "uniform", "gauss", "normal",
          "rand", "randn", "permutation", "beta", "binomial", "standard_normal", "poisson", "triangular"}  # fmt: skip
_HELPERS = regex(r"seed|reproduc|determin", re.IGNORECASE)

WORDS = ("manual_seed",)


def find(source: Source) -> Iterator[Hit]:
    seeds = [c for c in source.calls("torch.manual_seed", "torch.random.manual_seed") if not _passing(source, c)]
    if len(seeds) != 1:
        return  # who seeds again and again wants one thing to repeat, not the whole run
    rooms = {room: draws for room in ("numpy.random", "random") if (draws := _draws(source, room, seeds[0]))}
    if not rooms or _seeded_elsewhere(source) or _is_drawn(source, seeds[0]):
        return
    unseeded = []
    for seed, draws in ((f"{room}.seed", draws) for room, draws in rooms.items()):
        if not list(source.calls(seed)) and not _seeded_by_a_helper(source, seed):
            first = min(draws, key=lambda call: call.lineno)
            unseeded.append((seed.replace("numpy", "np"), source.code(first.func)))
    if unseeded:
        drawn = " and ".join(f"`{draw}`" for _, draw in unseeded)
        number = source.code(seeds[0].args[0]) if seeds[0].args else "seed"
        write = " and ".join(f"`{seed}({number})`" for seed, _ in unseeded)
        yield source.hit(seeds[0], f"this does not seed {drawn}, and two runs still differ: add {write}")


def _draws(source: Source, room: str, seed: ast.Call) -> list[ast.Call]:
    """The calls that draw after the seed, in the main process."""
    draws = [c for name in _DRAWS for c in source.calls(f"{room}.{name}") if not _by_a_worker(source, c)]
    return [c for c in draws if tree.function(source, c) is not None or c.lineno > seed.lineno]


def _seeded_by_a_helper(source: Source, seed: str) -> bool:
    """Whether a function of the project that is called here seeds it: `load_data(path, seed)`."""
    told = seed.replace("numpy", "np")
    called = (flow.called(source, call) for call in source.all(ast.Call))
    return any(one is not None and (told in (code := one.source.code(one.node)) or seed in code) for one in called)


def _by_a_worker(source: Source, call: ast.Call) -> bool:
    """In a transform or a dataset it is a worker that draws, and torch seeds its workers' other generators too."""
    home = tree.function(source, call)
    port = "port" in source.code(tree.statement(source, call)).lower()  # of the process group
    return (
        port
        or follow.in_test(source, call)
        or (home is not None and home.name in ("__call__", "__getitem__", "get_params"))
    )


def _passing(source: Source, call: ast.Call) -> bool:
    """A test's own seed, one that makes an image and its mask turn alike, or one that makes a split repeat."""
    home = tree.function(source, call)
    forked = any("fork_rng" in source.code(one) for one in tree.contexts(source, call))
    again = home is not None and bool(tree.loops(source, call))  # the same noise for each of them
    cls = tree.class_of(source, call)
    ran = {one.name for one in cls.body if isinstance(one, ast.FunctionDef)} if cls is not None else set()
    once = home is not None and (
        "split" in home.name or bool(ran & {"__getitem__", "__call__", "forward", "transform"})
    )
    put_back = home is not None and ("rng_state(" in source.code(home) or "nn.init." in source.code(home))
    return follow.in_test(source, call) or forked or again or once or put_back


def _is_drawn(source: Source, call: ast.Call) -> bool:
    """Whether the seed itself is a random number: nothing is meant to repeat."""
    seed = follow.followed(source, call.args[0]) if call.args else None
    made = [one.value for one in scopes.reaching(source, seed)] if isinstance(seed, ast.Name) else [seed]
    if isinstance(seed, ast.Attribute):  # `opt.seed = random.randint(1, 10000)`
        made = [one.value for one in source.all(ast.Assign) if source.code(one.targets[0]) == source.code(seed)]
    chance = ("random.", "numpy.random.", "time.", "torch.")
    drawn = [one for one in made if isinstance(one, ast.Call)]
    return any(source.name(one.func).startswith(chance) or follow.method(one) in _DRAWS for one in drawn)


def _seeded_elsewhere(source: Source) -> bool:
    """A helper, a framework or another file may seed the rest."""
    for call in source.all(ast.Call):
        full = source.name(call.func)
        own = full.startswith(("torch.", "numpy.", "random."))
        if not own and _HELPERS.search(full or source.code(call.func)):
            inner = flow.called(source, call)
            if inner is None or inner.source is not source:
                return True
    return False
