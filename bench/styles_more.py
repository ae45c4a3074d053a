"""More styles for bench/check_styles.py: classes and functions around the same lines, other words for the same call, settings.

Each function takes a parsed script and hands back one that means the same; what it cannot rewrite safely it leaves alone.
"""

import ast
import copy
from collections.abc import Callable

from styles_core import (
    DEFINES,
    Map,
    bound_by,
    dotted,
    first_place,
    found,
    fresh,
    full_name,
    function,
    globals_read,
    imports,
    loaded,
    renamed,
    stored,
    used,
)

LOOPS = (ast.For, ast.While)


def _code(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _top_names(tree: ast.Module) -> set[str]:
    """Names that the top of the file binds, but for imports, functions and classes."""
    return bound_by([one for one in tree.body if not isinstance(one, DEFINES)])


# --- 3. classes ---------------------------------------------------------------------------------------------------------


def trainer_class(tree: ast.Module) -> ast.Module:
    """The loop at the top of the file as a method of a class that is given what it reads."""
    place = next((n for n, one in enumerate(tree.body) if isinstance(one, LOOPS)), None)
    if place is None:
        return tree
    before, after = tree.body[:place], [one for one in tree.body[place:] if not isinstance(one, DEFINES)]
    defined = [one for one in tree.body[place:] if isinstance(one, DEFINES)]
    if globals_read(tree) & bound_by(after) or any(
        isinstance(one, Map.HIDES) for one in found(ast.Module(after, []), *Map.HIDES)
    ):
        return tree
    known = bound_by([one for one in before if not isinstance(one, DEFINES)])
    held = sorted(name for name in loaded(ast.Module(after, [])) & known)
    names = {name: ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load()) for name in held}
    taken = used(tree)
    name = fresh(taken, "Trainer")
    made = _code(
        f"class {name}:\n    def __init__(self, {', '.join(held)}):\n        pass\n    def fit(self):\n        pass"
    )[0]
    assert isinstance(made, ast.ClassDef)
    start, fit = made.body
    assert isinstance(start, ast.FunctionDef)
    assert isinstance(fit, ast.FunctionDef)
    start.body = _code("\n".join(f"self.{one} = {one}" for one in held)) or [ast.Pass()]
    fit.body = [renamed(one, names) for one in after]
    trainer = fresh(taken, "trainer")
    tree.body = [*before, *defined, made, *_code(f"{trainer} = {name}({', '.join(held)})\n{trainer}.fit()")]
    return tree


def as_methods(tree: ast.Module) -> ast.Module:
    """The functions of the file as methods of a class, called on an instance."""
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef) and not one.decorator_list}
    called = {id(call.func) for call in found(tree, ast.Call)}
    other = {one.id for one in found(tree, ast.Name) if id(one) not in called}
    inner = {one.name for node in found(tree, ast.ClassDef) for one in found(node, ast.FunctionDef)}
    moved = {name: one for name, one in functions.items() if name not in other | inner and not name.startswith("test")}
    from_class = {one.id for node in found(tree, ast.ClassDef) for one in found(node, ast.Name)}
    moved = {name: one for name, one in moved.items() if name not in from_class}
    if not moved:
        return tree
    taken = used(tree)
    owner, instance = fresh(taken, "Program"), fresh(taken, "program")

    def through(holder: str, node: ast.AST) -> None:
        for call in found(node, ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id in moved:
                call.func = ast.Attribute(ast.Name(holder, ast.Load()), call.func.id, ast.Load())

    place = tree.body.index(next(iter(moved.values())))
    for one in moved.values():
        through("self", one)
        one.args.args.insert(0, ast.arg("self"))
    rest = [one for one in tree.body if one not in moved.values()]
    for one in rest:
        through(instance, one)
    made = ast.ClassDef(owner, [], [], list(moved.values()), [])
    late = sum(one not in moved.values() for one in tree.body[:place])
    tree.body = [*rest[:late], made, *_code(f"{instance} = {owner}()"), *rest[late:]]
    return tree


# --- 6. functions -------------------------------------------------------------------------------------------------------


def train_step(tree: ast.Module) -> ast.Module:
    """The body of the loop at the top of the file that runs a backward pass, as a function of its own."""
    taken = used(tree)
    top = _top_names(tree)
    for place, loop in enumerate(list(tree.body)):
        loops = found(loop, *LOOPS) if isinstance(loop, LOOPS) else ()
        inner = next((one for one in loops if any(_runs_backward(part) for part in one.body)), None)
        stops = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.Global, ast.Lambda)
        if inner is None or any(True for one in inner.body for _ in found(one, *stops)):
            continue
        body = inner.body
        binds = bound_by(body)
        inside = {id(one) for part in body for one in found(part, ast.Name)}
        outside = {one.id for one in found(tree, ast.Name) if id(one) not in inside and isinstance(one.ctx, ast.Load)}
        given = sorted(
            name for name in top if name in bound_by(body) | loaded(ast.Module(body, [])) and _read_first(body, name)
        )
        back = sorted(name for name in binds if name in outside or name in given)
        if any(name not in top for name in back):
            continue
        name = fresh(taken, "train_step")
        made = function(
            name, given, [*body, *(_code(f"def f():\n    return {', '.join(back)}")[0].body if back else [])]
        )
        call = f"{name}({', '.join(given)})"
        inner.body = _code(f"{', '.join(back)} = {call}" if back else call)
        tree.body.insert(place, made)
        return tree
    return tree


def _runs_backward(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).endswith(".backward")
    )


def _read_first(body: list[ast.stmt], name: str) -> bool:
    """Whether a turn reads what an earlier one left: any read that is not surely after a plain binding."""
    for one in body:
        if name in loaded(one) or (isinstance(one, ast.AugAssign) and name in stored(one)):
            return True
        if isinstance(one, ast.Assign) and name in stored(one):
            return False
    return True


def builders(tree: ast.Module) -> ast.Module:
    """`net = build_net()`: what the top of the file makes with a call, made by a function that returns it."""
    taken, top, new = used(tree), _top_names(tree), list[ast.stmt]()
    for one in tree.body:
        target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if not isinstance(one, ast.Assign) or not isinstance(target, ast.Name) or not _is_made(one.value):
            new.append(one)
            continue
        given = sorted(loaded(one.value) & top)
        name = fresh(taken, f"build_{target.id}")
        new.append(function(name, given, [ast.Return(one.value)]))
        new += _code(f"{target.id} = {name}({', '.join(given)})")
    tree.body = new
    return tree


def _is_made(node: ast.expr) -> bool:
    """A call of a class, by its name."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2][:1].isupper()


def build_all(tree: ast.Module) -> ast.Module:
    """`net, optimizer = build()`: neighbours that the top of the file makes, made by one function that returns all."""
    taken, top, new, group = used(tree), _top_names(tree), list[ast.stmt](), list[ast.Assign]()

    def close() -> None:
        names = [ast.unparse(one.targets[0]) for one in group]
        given = sorted(loaded(ast.Module(list(group), [])) & top - set(names))
        if len(group) > 1 and len(set(names)) == len(names):
            name = fresh(taken, "build")
            back = _code(f"def f():\n    return {', '.join(names)}")[0].body
            new.append(function(name, given, [*group, *back]))
            new.extend(_code(f"{', '.join(names)} = {name}({', '.join(given)})"))
        else:
            new.extend(group)
        group.clear()

    for one in tree.body:
        single = isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name)
        if isinstance(one, ast.Assign) and single and _is_made(one.value):
            group.append(one)
        else:
            close()
            new.append(one)
    close()
    tree.body = new
    return tree


# --- 7. other words -----------------------------------------------------------------------------------------------------

WORDS = {"relu", "sigmoid", "tanh", "softmax", "log_softmax", "mean", "sum", "max", "min", "argmax", "exp", "log", "sqrt", "abs",
         "square", "clamp", "squeeze", "unsqueeze", "flatten", "reshape", "transpose", "matmul", "mm", "bmm", "cumsum", "std", "var",
         "norm", "topk", "sort", "permute", "pow", "round", "eq", "masked_fill", "gather", "isnan", "prod", "logsumexp"}  # fmt: skip
ONLY_TENSORS = WORDS - {"mean", "sum", "max", "min", "std", "var", "round", "sort", "argmax", "prod", "reshape", "transpose", "norm",
                        "flatten", "squeeze", "exp", "log", "sqrt", "abs", "eq", "pow"}  # fmt: skip


def as_tensor_methods(tree: ast.Module) -> ast.Module:
    """`torch.mean(x, 0)` and `F.relu(x)` as `x.mean(0)` and `x.relu()`."""
    table = imports(tree)
    for call in found(tree, ast.Call):
        module, _, name = full_name(table, call.func).rpartition(".")
        known = module in ("torch", "torch.nn.functional") and name in WORDS and call.args
        plain = not any(one.arg in ("input", "inplace", "out", "tensor") or one.arg is None for one in call.keywords)
        if known and plain and isinstance(call.args[0], ast.Name | ast.Call | ast.Attribute | ast.Subscript):
            call.func = ast.Attribute(call.args.pop(0), name, ast.Load())
    return tree


def as_torch_functions(tree: ast.Module) -> ast.Module:
    """`x.softmax(1)` as `torch.softmax(x, 1)`, for methods that only tensors have."""
    table = imports(tree)
    if table.get("torch") != "torch":
        return tree
    for call in found(tree, ast.Call):
        func = call.func
        of_tensor = isinstance(func, ast.Attribute) and func.attr in ONLY_TENSORS and not full_name(table, func)
        if isinstance(func, ast.Attribute) and of_tensor and ast.unparse(func.value) != "self":
            call.args.insert(0, func.value)
            call.func = dotted(f"torch.{func.attr}")
    return tree


LOSSES = {"CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll_loss", "MSELoss": "mse_loss", "L1Loss": "l1_loss",
          "BCELoss": "binary_cross_entropy", "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "KLDivLoss": "kl_div",
          "SmoothL1Loss": "smooth_l1_loss"}  # fmt: skip


def loss_functions(tree: ast.Module) -> ast.Module:
    """`criterion = nn.CrossEntropyLoss()` and `criterion(out, y)` as `torch.nn.functional.cross_entropy(out, y)`."""
    table, made = imports(tree), dict[str, ast.Call]()
    counts = [one.id for one in found(tree, ast.Name) if isinstance(one.ctx, ast.Store)] + [
        one.arg for one in found(tree, ast.arg)
    ]
    called = {id(call.func) for call in found(tree, ast.Call)}
    free = {one.id for one in found(tree, ast.Name) if isinstance(one.ctx, ast.Load) and id(one) not in called}
    for one in tree.body:
        name = one.targets[0] if isinstance(one, ast.Assign) else None
        if (
            (
                isinstance(name, ast.Name)
                and isinstance(one, ast.Assign)
                and _loss(table, one.value)
                and counts.count(name.id) == 1
            )
            and name.id not in free
            and isinstance(one.value, ast.Call)
            and not one.value.args
        ):
            made[name.id] = one.value
    for call in found(tree, ast.Call):
        given = (
            made.get(call.func.id)
            if isinstance(call.func, ast.Name)
            else call.func
            if _loss(table, call.func)
            else None
        )
        if isinstance(given, ast.Call) and not given.args:
            call.func = dotted(f"torch.nn.functional.{_loss(table, given)}")
            call.keywords += [copy.deepcopy(one) for one in given.keywords]
    if made:
        tree.body = [one for one in tree.body if not (isinstance(one, ast.Assign) and one.value in made.values())]
        tree.body.insert(first_place(tree), ast.Import([ast.alias("torch")]))
    return tree


def _loss(table: dict[str, str], node: ast.expr) -> str:
    """`cross_entropy` of `nn.CrossEntropyLoss(...)`."""
    return LOSSES.get(full_name(table, node.func).removeprefix("torch.nn."), "") if isinstance(node, ast.Call) else ""


def loss_modules(tree: ast.Module) -> ast.Module:
    """`F.cross_entropy(out, y)` as `torch.nn.CrossEntropyLoss()(out, y)`."""
    table = imports(tree)
    classes = {f"torch.nn.functional.{word}": name for name, word in LOSSES.items()}
    changed = False
    for call in found(tree, ast.Call):
        name = classes.get(full_name(table, call.func))
        if name and len(call.args) == 2:
            options = [one for one in call.keywords if one.arg not in ("input", "target")]
            call.func = ast.Call(dotted(f"torch.nn.{name}"), [], options)
            call.keywords, changed = [], True
    if changed:
        tree.body.insert(first_place(tree), ast.Import([ast.alias("torch")]))
    return tree


# --- 9. settings --------------------------------------------------------------------------------------------------------


def _settings(
    tree: ast.Module, spelled: Callable[[str], str], made: Callable[[dict[str, ast.expr]], str]
) -> ast.Module:
    """Numbers that optimizers, loaders and schedulers are given by keyword, taken from a place of their own."""
    table, taken, found_values = imports(tree), used(tree), dict[str, ast.expr]()
    for call in found(tree, ast.Call):
        full = full_name(table, call.func)
        if (
            full.startswith(("torch.optim.", "torch.utils.data.DataLoader", "torch.nn."))
            and full.rpartition(".")[2][:1].isupper()
        ):
            for one in call.keywords:
                if one.arg and isinstance(one.value, ast.Constant) and isinstance(one.value.value, int | float | str):
                    name = fresh(taken, one.arg)
                    found_values[name] = one.value
                    one.value = ast.parse(spelled(name), mode="eval").body
    if found_values:
        place = next(
            n
            for n, one in enumerate(tree.body)
            if not isinstance(one, ast.Import | ast.ImportFrom) and n >= first_place(tree)
        )
        tree.body[place:place] = _code(made(found_values))
    return tree


def by_constants(tree: ast.Module) -> ast.Module:
    """`LR = 0.1` at the top, `lr=LR` below."""
    return _settings(
        tree, str.upper, lambda known: "\n".join(f"{name.upper()} = {ast.unparse(one)}" for name, one in known.items())
    )


def by_config(tree: ast.Module) -> ast.Module:
    """`CONFIG = {"lr": 0.1}` at the top, `lr=CONFIG["lr"]` below."""

    def made(known: dict[str, ast.expr]) -> str:
        return "CONFIG = {" + ", ".join(f"{name!r}: {ast.unparse(one)}" for name, one in known.items()) + "}"

    return _settings(tree, lambda name: f"CONFIG[{name!r}]", made)


def by_dataclass(tree: ast.Module) -> ast.Module:
    """`class Config: lr: float = 0.1` at the top, `lr=config.lr` below."""

    def made(known: dict[str, ast.expr]) -> str:
        lines = (
            f"    {name}: {type(ast.literal_eval(one)).__name__} = {ast.unparse(one)}" for name, one in known.items()
        )
        return (
            "from dataclasses import dataclass\n@dataclass\nclass Config:\n" + "\n".join(lines) + "\nconfig = Config()"
        )

    return _settings(tree, lambda name: f"config.{name}", made)


def by_arguments(tree: ast.Module) -> ast.Module:
    """`parser.add_argument("--lr", default=0.1)` at the top, `lr=args.lr` below."""

    def made(known: dict[str, ast.expr]) -> str:
        lines = (f"parser.add_argument('--{name}', default={ast.unparse(one)})" for name, one in known.items())
        return (
            "import argparse\nparser = argparse.ArgumentParser()\n" + "\n".join(lines) + "\nargs = parser.parse_args()"
        )

    return _settings(tree, lambda name: f"args.{name}", made)


MORE: dict[str, Callable[[ast.Module], ast.Module]] = {
    "trainer class": trainer_class,
    "as methods": as_methods,
    "train step": train_step,
    "builders": builders,
    "build all": build_all,
    "tensor methods": as_tensor_methods,
    "torch functions": as_torch_functions,
    "loss functions": loss_functions,
    "loss modules": loss_modules,
    "constants": by_constants,
    "config": by_config,
    "dataclass": by_dataclass,
    "argparse": by_arguments,
}
