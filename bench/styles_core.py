"""What the rewritings of bench/styles.py and bench/styles_more.py are made of: names, imports, blocks, replacements."""

import ast
import builtins
import copy
import symtable
from collections.abc import Callable, Iterator
from typing import TypeVar

DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Node = TypeVar("Node", bound=ast.AST)
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LIBRARIES = ("torch", "torchvision", "numpy")
MODULES = {
    "torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn", "torch.nn.parallel",
    "torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.utils", "torch.utils.data",
    "torch.utils.checkpoint", "torch.utils.data.distributed", "torch.cuda", "torch.cuda.amp", "torch.amp", "torch.backends",
    "torch.backends.cudnn", "torch.backends.cuda", "torch.autograd", "torch.distributed", "torch.distributions", "torch.linalg",
    "torch.fft", "torch.random", "torch.jit", "torch.onnx", "torch.special", "torch.multiprocessing", "torch.func",
    "torchvision", "torchvision.transforms", "torchvision.transforms.functional", "torchvision.transforms.v2",
    "torchvision.datasets", "torchvision.models", "torchvision.utils", "torchvision.io", "torchvision.ops",
}  # fmt: skip


# --- what a script says -------------------------------------------------------------------------------------------------


def found(tree: ast.AST, *types: type[Node]) -> Iterator[Node]:
    """Nodes of these types."""
    return (node for node in ast.walk(tree) if isinstance(node, types))


def stored(tree: ast.AST) -> set[str]:
    """Names that something binds here: assignments, loops, parameters, functions, classes, imports."""
    names = {one.id for one in found(tree, ast.Name) if not isinstance(one.ctx, ast.Load)}
    names |= {one.arg for one in found(tree, ast.arg)}
    names |= {one.name for one in found(tree, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)}
    return names | {(one.asname or one.name).split(".")[0] for one in found(tree, ast.alias)}


def loaded(tree: ast.AST) -> set[str]:
    """Names that are read here."""
    return {one.id for one in found(tree, ast.Name) if isinstance(one.ctx, ast.Load)}


def used(tree: ast.AST) -> set[str]:
    """Every name that stands here."""
    return {one.id for one in found(tree, ast.Name)} | stored(tree) | set(dir(builtins))


def globals_read(tree: ast.Module) -> set[str]:
    """Names of the top of the file that its functions and classes read."""
    top = symtable.symtable(ast.unparse(tree), "script", "exec")
    names, inner = set[str](), list(top.get_children())
    while inner:
        table = inner.pop()
        names |= {one.get_name() for one in table.get_symbols() if one.is_global() and one.is_referenced()}
        inner += table.get_children()
    return names


def fresh(taken: set[str], wish: str) -> str:
    """A name that nobody has, as near to the wish as can be."""
    name, count = wish, 1
    while name in taken:
        count += 1
        name = f"{wish}_{count}"
    taken.add(name)
    return name


def imports(tree: ast.Module) -> dict[str, str]:
    """What each imported identifier stands for, where it comes from a library we know and nothing else binds it."""
    table: dict[str, str] = {}
    for node in found(tree, ast.Import):
        table.update(
            {
                one.asname or one.name.split(".")[0]: one.name if one.asname else one.name.split(".")[0]
                for one in node.names
            }
        )
    for origin in found(tree, ast.ImportFrom):
        if not origin.level:
            table.update({one.asname or one.name: f"{origin.module}.{one.name}" for one in origin.names})
    bound = {one.id for one in found(tree, ast.Name) if not isinstance(one.ctx, ast.Load)} | {
        one.arg for one in found(tree, ast.arg)
    }
    return {name: full for name, full in table.items() if full.split(".")[0] in LIBRARIES and name not in bound}


def full_name(table: dict[str, str], node: ast.expr) -> str:
    """The full dotted name of an expression, "" if it has none."""
    if isinstance(node, ast.Name):
        return table.get(node.id, "")
    owner = full_name(table, node.value) if isinstance(node, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if owner and isinstance(node, ast.Attribute) else ""


def dotted(full: str, ctx: ast.expr_context | None = None) -> ast.expr:
    """`a.b.c` as an expression."""
    node = ast.parse(full, mode="eval").body
    if ctx is not None and isinstance(node, ast.Attribute | ast.Name):
        node.ctx = ctx
    return node


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block


class Map(ast.NodeTransformer):
    """Every expression replaced by what a function says, innermost first."""

    HIDES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # have names of their own

    def __init__(self, change: Callable[[ast.expr], ast.expr]) -> None:
        self.change = change

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The node with its parts changed, then itself."""
        super().generic_visit(node)
        return self.change(node) if isinstance(node, ast.expr) else node


def renamed(tree: Node, names: dict[str, ast.expr]) -> Node:
    """The tree with these names replaced by expressions, wherever they stand."""

    def change(node: ast.expr) -> ast.expr:
        if not isinstance(node, ast.Name) or node.id not in names:
            return node
        new = copy.deepcopy(names[node.id])
        new.ctx = node.ctx  # type: ignore[attr-defined]  # names and attributes have one
        return new

    return Map(change).visit(tree)


class Statements(ast.NodeTransformer):
    """Every statement replaced by what a function says, innermost first."""

    def __init__(self, change: Callable[[ast.stmt], list[ast.stmt]]) -> None:
        self.change = change

    def generic_visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:  # type: ignore[override]  # a statement may become two
        """The node with its parts changed, then itself."""
        super().generic_visit(node)
        return self.change(node) if isinstance(node, ast.stmt) else node


def first_place(tree: ast.Module) -> int:
    """Where the first import may stand: after the docstring and `__future__`."""
    place = 1 if ast.get_docstring(tree) is not None else 0
    while place < len(tree.body) and isinstance(one := tree.body[place], ast.ImportFrom) and one.module == "__future__":
        place += 1
    return place


def bound_by(block: list[ast.stmt]) -> set[str]:
    """Names that these statements bind."""
    return stored(ast.Module(block, []))


def function(name: str, parameters: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """A function of this name, with these parameters and this body."""
    made = ast.parse(f"def {name}({', '.join(parameters)}):\n    pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = body
    return made
