"""Small steps that many rules take: what a name stands for, what the code asks first, how often a line runs."""

from __future__ import annotations

import ast
from math import inf
from typing import TYPE_CHECKING

from torchlore.check import scopes, tree, uses
from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from torchlore.check.source import Source

_MEASURES = regex(
    r"test(ing)?(_(the_)?(model|net|network|classifier|epoch|loop|step|set|phase|loader|data|batch|acc\w*))?$"
)


def binding(source: Source, node: ast.expr) -> ast.expr | None:
    """The value of a name that one plain assignment binds, `a, b = x, y` too, else None."""
    if not isinstance(node, ast.Name):
        return None
    found = scopes.reaching(source, node)
    one = found[0] if len(found) == 1 else None
    if one is None or one.how != "assign":
        return None
    value, path = one.value, one.path
    if len(path) == 1 and isinstance(value, ast.Tuple) and 0 <= path[0] < len(value.elts):
        starred = any(isinstance(part, ast.Starred) for part in value.elts)
        return value.elts[path[0]] if not starred else None
    return value if not path else None


def followed(source: Source, node: ast.expr, hops: int = 4) -> ast.expr:
    """The expression itself, or what the name stands for, through names that one plain assignment binds."""
    for _ in range(hops):
        value = binding(source, node)
        if value is None:
            break
        node = value
    return node


def written_into(source: Source, node: ast.Name) -> bool:
    """Whether the function writes into what the name holds: `x[0] = 1`, `x /= 2`, `x.div_(2)`, `np.divide(y, 2, out=x)`."""
    home = tree.function(source, node)
    for use in uses.names(source, node.id):
        up = source.parents[use]
        part = isinstance(up, ast.Subscript) and up.value is use and isinstance(up.ctx, ast.Store)
        method = isinstance(up, ast.Attribute) and up.attr.endswith("_") and not up.attr.startswith("_")
        given = isinstance(up, ast.AugAssign) or (isinstance(up, ast.keyword) and up.arg == "out")
        if (part or method or given) and tree.function(source, use) is home:
            return True
    return False


def read_once(source: Source, node: ast.expr) -> ast.expr:
    """What a name stands for, where nothing else reads it and both stand in the same loops and conditions; else the node."""
    made, home = followed(source, node), tree.function(source, node)
    same = [one for one in uses.names(source, tree.dotted(node)) if tree.function(source, one) is home]
    beside = tree.loops(source, made) == tree.loops(source, node)
    beside = beside and tree.conditions(source, made) == tree.conditions(source, node)  # not only now and then
    return made if made is not node and len(same) == 2 and beside else node


def takes_packed(source: Source, call: ast.Call) -> bool:
    """Whether a layer is given a packed sequence: then it gives one, whose `data` is its tensor, graph and all."""
    given = followed(source, call.args[0]) if call.args and "pack" in source.text else None
    full = source.name(given.func) if isinstance(given, ast.Call) else ""
    return full.rpartition(".")[2] in ("pack_padded_sequence", "pack_sequence", "PackedSequence")


def possible(source: Source, node: ast.expr) -> list[ast.expr]:
    """What an expression may be: itself, or for a name the values of the plain assignments that reach it."""
    if not isinstance(node, ast.Name):
        return [node]
    return [
        one.value
        for one in scopes.reaching(source, node)
        if one.value is not None and one.how == "assign" and not one.path
    ]


def unread(source: Source, name: ast.Name) -> bool:
    """Whether no use may see what this line binds: `out += x` is a use, and so is a line below that was commented out."""
    others = [one for one in uses.names(source, name.id) if one is not name]
    reads = (one for one in others if isinstance(one.ctx, ast.Load) or isinstance(source.parents[one], ast.AugAssign))
    if any(bound.node is name for one in reads for bound in scopes.reaching(source, one)):
        return False
    below = source.text.splitlines()[name.lineno : getattr(tree.function(source, name), "end_lineno", None)]
    told = regex(rf"#(?=.*[=(]).*\b{name.id}\b")
    return not any("#" in line and told.search(line) for line in below) and "locals()" not in source.text


def method(node: ast.AST) -> str:
    """`sum` of the call `anything.sum(...)`, "" where it is none."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def word(source: Source, node: ast.AST) -> str:
    """`sum` of the calls `x.sum()`, `torch.sum(x)` and `total(x)` after `from torch import sum as total`, "" where it is none."""
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Attribute):
        return func.attr
    return source.names.tail(func.id) if isinstance(func, ast.Name) else ""


def peeled(node: ast.expr, methods: Collection[str]) -> ast.expr:
    """`x` of `x.detach().data`: the thing itself, through `.data` and these methods."""
    while True:
        if isinstance(node, ast.Call) and method(node) in methods:
            node = tree.receiver(node)
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return node


def base(node: ast.expr) -> str:
    """`advantages` of `self.advantages.detach()[0]`, `log_probs` of `torch.stack(log_probs)`."""
    while True:
        if isinstance(node, ast.Call):
            node = (
                node.func.value
                if isinstance(node.func, ast.Attribute) and not node.args
                else (node.args or [node.func])[0]
            )
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return tree.dotted(node).rpartition(".")[2]


def is_test(source: Source) -> bool:
    """Whether a file holds tests, by its name."""
    file = source.path.replace("\\", "/").rpartition("/")[2]
    return file.startswith(("test_", "conftest.", "sanity_")) or file.endswith("_test.py")


def is_unit_test(source: Source) -> bool:
    """Whether pytest or unittest runs this file; a script `test_net.py` that evaluates a net is none."""
    if not is_test(source):
        return False
    imported = source.names.imported.values()
    runners = any(
        full.partition(".")[0] in ("pytest", "unittest") or full.startswith("torch.testing._internal")
        for full in imported
    )
    return runners or _asserts_in_tests(source)


def _asserts_in_tests(source: Source) -> bool:
    """Functions `test_…` that assert, or a class `…TestCase`, in a folder `tests`: pytest needs no import."""
    if not {"test", "tests"} & set(source.path.replace("\\", "/").split("/")[:-1]):
        return False
    homes = (tree.function(source, one) for one in source.all(ast.Assert))
    cases = (tree.dotted(base) for cls in source.all(ast.ClassDef) for base in cls.bases)
    return any(home is not None and home.name.lstrip("_").startswith("test_") for home in homes) or any(
        one.endswith("TestCase") for one in cases
    )


def in_test(source: Source, node: ast.AST) -> bool:
    """Whether this is a test, by the name of its function or file: it makes its own inputs and breaks things on purpose."""
    functions = (up for up in tree.ancestors(source, node) if isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef))
    return is_test(source) or any(one.name.startswith("test") and not _evaluates(source, one) for one in functions)


def _evaluates(source: Source, function: tree.FunctionNode) -> bool:
    """`test(net, loader)`: it must be given what it looks at and asserts nothing, so it measures a net and is no test of the code."""
    if not _MEASURES.match(function.name) or tree.under(source, function, ast.Assert):
        return False  # pytest gives it what it asks for
    args = [one for one in (*function.args.posonlyargs, *function.args.args) if one.arg not in ("self", "cls")]
    return len(args) - len(function.args.defaults) > 0


def comment(source: Source, node: ast.AST) -> str:
    """What the author says about a statement, in small letters: comments on its lines and right above it."""
    statement = tree.statement(source, node)
    lines = source.text.splitlines()
    first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
    said = [line.partition("#")[2] for line in lines[first:last]]
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
        said.append(lines[first])
    return " ".join(said).lower()


def asks_version(source: Source, node: ast.AST) -> bool:
    """Whether the code asks which torch it has, or is ready for the name to be missing."""
    tests = " ".join(source.code(test) for test, _ in tree.conditions(source, node)).lower()
    if any(word in tests for word in ("version", "torch_", "hasattr", "sys.modules")):
        return True
    above = list(tree.ancestors(source, node))
    handlers = [h for up in above if isinstance(up, ast.Try) for h in up.handlers]
    caught = " ".join(source.code(h.type) for h in handlers if h.type is not None)
    if "AttributeError" in caught or "ImportError" in caught:
        return True
    if _imported_or_made(source, node):
        return True
    tried = (up for up in above if isinstance(up, ast.ExceptHandler))  # the old name, where the new one failed
    return any("torch." in source.code(one) for up in tried for one in _tried(source, up))


def _imported_or_made(source: Source, node: ast.AST) -> bool:
    """`try: from torch import rfft`, `except ImportError: def rfft(...)`: the name is there either way."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    handlers = list(source.all(ast.ExceptHandler)) if name else []
    return any(f"def {name}(" in source.code(one) and "Import" in source.code(one) for one in handlers)


def _tried(source: Source, handler: ast.ExceptHandler) -> list[ast.stmt]:
    """The lines before an `except:` that catches whatever comes."""
    up = source.parents[handler]
    whatever = handler.type is None or source.code(handler.type) == "Exception"
    return up.body if isinstance(up, ast.Try) and whatever else []


def before(source: Source, version: str) -> bool:
    """Whether the code is written for a torch older than this, by `torch = "2.4"` in `[tool.torchlore]`."""
    target = source.project.torch
    return bool(target) and target < tuple(int(part) for part in version.split("."))


def seldom(source: Source, node: ast.AST, loop: ast.AST) -> bool:
    """Whether something between the node and its loop keeps it from running in every turn."""
    for up in tree.ancestors(source, node):
        if up is loop:
            return False
        if isinstance(up, ast.If | ast.IfExp | ast.ExceptHandler | ast.Match):
            return True
    return False


def exclusive(source: Source, one: ast.AST, other: ast.AST) -> bool:
    """Whether never both run in one turn: in different branches of one `if`, or under `x == "a"` and `x == "b"`."""
    mine, theirs = tree.conditions(source, one), tree.conditions(source, other)
    branches = {id(test): branch for test, branch in mine}
    if any(branches.get(id(test), branch) is not branch for test, branch in theirs):
        return True
    asked = dict(asks for test, branch in mine if branch and (asks := _equals(source, test)) is not None)
    told = (asks for test, branch in theirs if branch and (asks := _equals(source, test)) is not None)
    return any(asked.get(name, value) != value for name, value in told)


def _equals(source: Source, test: ast.expr) -> tuple[str, object] | None:
    """`choice` and "Adam" of `choice == "Adam"`."""
    one = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
    value = tree.literal(test.comparators[0]) if isinstance(test, ast.Compare) and one else None
    return (source.code(test.left), value) if isinstance(test, ast.Compare) and isinstance(value, str | int) else None


def later_uses(source: Source, name: ast.Name, after: ast.expr) -> Iterator[ast.Name]:
    """Reads of the value that `name` has (or is given) here which come after another expression, or stand beside it."""
    home, held = tree.function(source, after) or source.tree, tree.statement(source, after)
    first, last = (after.lineno, after.col_offset), getattr(home, "end_lineno", inf)
    same = [one for one in uses.names(source, name.id) if one is not name and isinstance(one.ctx, ast.Load)]
    near = [
        one
        for one in same
        if one.lineno <= last and ((one.lineno, one.col_offset) > first or tree.statement(source, one) is held)
    ]
    mine = {id(name)} if isinstance(name.ctx, ast.Store) else None
    for node in near:
        if scopes.scope_of(source, node) is home and not exclusive(source, node, after):
            mine = mine or {id(one.node) for one in scopes.reaching(source, name)}
            if mine & {id(one.node) for one in scopes.reaching(source, node)}:
                yield node


def may_be_spelled(source: Source, names: Collection[str]) -> bool:
    """Whether a plain name of the file may stand for one of these full names, by its imports and definitions alone."""
    known = source.names
    told = {*known.imported.values(), *known.aliases.values(), *known.defined.values()}
    return bool(known.stars) or not told.isdisjoint(names)


def named(source: Source, names: Collection[str]) -> Iterator[tuple[ast.expr | ast.alias, str]]:
    """Every import and every use of these full names, but where the code is ready for them to be missing."""
    last = {full.rpartition(".")[2] for full in names}
    for statement in source.all(ast.ImportFrom):
        for alias in statement.names:
            full = f"{statement.module}.{alias.name}" if alias.name in last else ""
            if statement.level == 0 and full in names and not asks_version(source, statement):
                yield alias, full
    found: list[ast.Attribute | ast.Name] = list(uses.any_attributes(source, last))
    if may_be_spelled(source, names):
        found += [use for one in uses.any_spellings(source, names) for use in uses.names(source, one)]
    for use in found:
        full = source.name(use) if isinstance(use.ctx, ast.Load) else ""
        if full in names and not asks_version(source, use):
            yield use, full
