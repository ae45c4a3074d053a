"""The rule of dataset-rng-per-worker."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, tree
from torchlore.check.project import Class, Function
from torchlore.check.source import Hit, Source

_MAKERS = {
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "numpy.random.Generator",
    "random.Random",
    "torch.Generator",
}
_SEEDS = ("numpy.random.seed", "random.seed", "torch.manual_seed")
WORDS = (
    "default_rng|RandomState|Generator|Random|worker_init_fn",
    "__getitem__|__call__|forward|worker_init_fn",
    "default_rng|RandomState|Generator|Random|seed|manual_seed",
)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_one_seed(source), *_by_worker(source)) if "worker_init_fn" in source.text else ()
    if not any(word in source.text for word in ("default_rng", "RandomState", "Generator(", "Random(")):
        return
    for cls in classes.all_classes(source):
        ways = classes.methods(cls)
        draws = (
            ways.get("__getitem__") if _is_dataset(source, cls.node) else ways.get("__call__") or ways.get("forward")
        )
        if draws is None:
            continue
        used = _reached(source, ways, draws)
        for name, found in classes.attributes(cls).items():
            made = [one for one in found if _makes(source, one.value)] if name in used else []
            once = made and len(made) == len(found) and all(one.method == "__init__" for one in found)
            if once and _copied(source, cls) and not _seeded(source, name):
                told = f"every worker gets a copy of `self.{name}` and draws the same numbers: draw from `np.random` or `torch`, or make the generator from the index"
                yield source.hit(made[0].node, told)


def _reached(source: Source, ways: dict[str, tree.FunctionNode], draws: tree.FunctionNode) -> set[str]:
    """The attributes that a sample is made with: those of the method, and of the methods of its own that it calls."""
    used: set[str] = set()
    rest = [draws]
    while rest:
        found = {node.attr for node in tree.under(source, rest.pop(), ast.Attribute) if not _spare(source, node)}
        rest += [ways[name] for name in found - used if name in ways and name != "__init__"]
        used |= found
    return used


def _makes(source: Source, value: ast.expr | None) -> bool:
    """`default_rng(seed)`, also of `rng or default_rng(seed)` and `default_rng(seed) if rng is None else rng`."""
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
        return _makes(source, value.values[-1])
    if isinstance(value, ast.IfExp):
        return "None" in source.code(value.test) and (_makes(source, value.body) or _makes(source, value.orelse))
    return isinstance(value, ast.Call) and source.name(value.func) in _MAKERS


def _spare(source: Source, node: ast.AST) -> bool:
    """Drawn where a sample failed, for another one in its place."""
    tries = tree.under(source, tree.function(source, node) or node, ast.Try, ast.While)
    return any(tree.inside(source, node, one) for one in tries)


def _by_worker(source: Source) -> Iterator[Hit]:
    """`worker_init_fn=lambda i: np.random.seed(42 + i)`: workers differ, and each epoch draws what the last one drew."""
    for call in source.calls("torch.utils.data.DataLoader"):
        given = tree.argument(call, 10, "worker_init_fn")
        stays = tree.keyword(call, "persistent_workers")
        if stays is not None or tree.literal(tree.argument(call, 2, "shuffle")) is not True:
            continue  # a loader for evaluation may well repeat itself
        made = source.project.resolve(source, given) if isinstance(given, ast.Name | ast.Attribute) else None
        body = given if isinstance(given, ast.Lambda) else made.node if isinstance(made, Function) else None
        own = body is given or (isinstance(made, Function) and made.source is source)
        for seeding in source.calls("numpy.random.seed") if own else ():
            if body is None:
                break
            asked = tree.inside(source, seeding, body) and not tree.conditions(source, seeding)
            worker = {arg.arg for arg in body.args.args}
            seed = seeding.args[0] if asked and len(seeding.args) == 1 else None
            if seed is not None and _repeats(source, seed, worker):
                told = "workers start again in every epoch, and from this seed each draws what it drew before"
                yield source.hit(seeding, f"{told}: seed with `torch.initial_seed() % 2**32`", severity="hint")


def _repeats(source: Source, seed: ast.expr, worker: set[str]) -> bool:
    """`42 + worker_id`: a number written down and the worker's own, nothing else."""
    parts = [seed.left, seed.right] if isinstance(seed, ast.BinOp) and isinstance(seed.op, ast.Add) else [seed]
    known = [isinstance(one, ast.Name) and one.id in worker for one in parts]
    fixed = [isinstance(tree.literal(follow.followed(source, one)), int) for one in parts]
    return any(known) and all(a or b for a, b in zip(known, fixed, strict=True))


def _one_seed(source: Source) -> Iterator[Hit]:
    """`np.random.seed(42)` in a `worker_init_fn`: the same numbers in every worker, and again in every epoch."""
    given = (tree.argument(call, 10, "worker_init_fn") for call in source.calls("torch.utils.data.DataLoader"))
    made = [source.project.resolve(source, one) for one in given if isinstance(one, ast.Name | ast.Attribute)]
    homes = {one.node for one in made if isinstance(one, Function) and one.source is source}
    for call in source.calls(*_SEEDS):
        seed = call.args[0] if len(call.args) == 1 and tree.function(source, call) in homes else None
        if isinstance(tree.literal(seed), int) and not tree.conditions(source, call):
            told = "every worker draws the same numbers, and the same again in every epoch: seed with `torch.initial_seed() % 2**32`"
            yield source.hit(call, told)


def _copied(source: Source, cls: Class) -> bool:
    """Whether workers read the dataset, or one that is given an object of this class as its transform."""
    if _is_dataset(source, cls.node):
        return classes.read_by_workers(cls)
    for made in source.calls(cls.qualified):
        held = tree.statement(source, made)
        name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) and held.value is made else ""
        for other in classes.all_classes(source):
            for call in source.calls(other.qualified) if _is_dataset(source, other.node) else ():
                given = (*call.args, *(one.value for one in call.keywords))
                mine = any(tree.inside(source, made, one) or (name and tree.dotted(one) == name) for one in given)
                if mine and classes.read_by_workers(other):
                    return True
    return False


def _seeded(source: Source, name: str) -> bool:
    """Whether a loader's `worker_init_fn` gives the attribute another value in each worker, or may do so."""
    given = (tree.argument(call, 10, "worker_init_fn") for call in source.calls("torch.utils.data.DataLoader"))
    for one in given:
        if one is None or tree.literal(one) is None:
            continue
        made = source.project.resolve(source, one)
        body = made.node if isinstance(made, Function) else None
        if body is None or any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(body)):
            return True
    return False


def _is_dataset(source: Source, node: ast.ClassDef) -> bool:
    return any(
        source.name(base.value if isinstance(base, ast.Subscript) else base).endswith("Dataset") for base in node.bases
    )
