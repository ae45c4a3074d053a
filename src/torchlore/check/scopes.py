"""Who binds a name, and which of its bindings can reach a use."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from torchlore.check.tree import Loop, ends
from torchlore.check.uses import stored

if TYPE_CHECKING:
    from torchlore.check.source import Source

Scope = ast.AST  # a module, function, lambda, class or comprehension
_BODIES = {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module}
_COMPREHENSIONS = {ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp}
_STOPS = (ast.stmt, ast.Lambda)
_HOW = {ast.FunctionDef: "def", ast.AsyncFunctionDef: "def", ast.ClassDef: "class", ast.Import: "import",
        ast.ImportFrom: "import", ast.ExceptHandler: "except"}  # fmt: skip
_UNPACKS = {ast.Tuple, ast.List, ast.Starred}
Step = tuple[ast.AST, str, int]  # a statement's block: whose, which field, which place in it


class Binding(NamedTuple):
    """One place where a name gets a value."""

    name: str
    node: ast.AST  # the Name, arg, def, class or import
    statement: ast.AST
    how: str  # assign, aug, for, with, parameter, import, def, class, except, match, comprehension
    value: ast.expr | None = None  # what is assigned, iterated or entered
    path: tuple[int, ...] = ()  # position inside an unpacked tuple, outermost first; -1 for a starred rest
    annotation: ast.expr | None = None


def part(binding: Binding) -> ast.expr | None:
    """What the name itself gets: its own element where a tuple is written down, else all that is assigned."""
    value, path = binding.value, binding.path
    while (
        path and isinstance(value, ast.Tuple | ast.List) and not any(isinstance(one, ast.Starred) for one in value.elts)
    ):
        if not 0 <= path[0] < len(value.elts):
            break
        value, path = value.elts[path[0]], path[1:]
    return value


def scope_of(source: Source, node: ast.AST) -> Scope:
    """The function, lambda, class or module in whose scope the node stands (comprehensions are looked through)."""
    parents, child = source.parents, node
    up: Any = parents.get(node)
    while up is not None:
        cls = up.__class__
        if (cls in _BODIES and isinstance(child, ast.stmt)) or (cls is ast.Lambda and child is up.body):
            found: Scope = up
            return found
        child, up = up, parents.get(up)
    return source.tree


def bound(source: Source, identifier: str) -> dict[Scope, list[Binding]]:
    """The bindings of one name by scope, made when somebody asks for it: of half of the names nobody does."""
    table: dict[str, dict[Scope, list[Binding]]] | None = source.memo.get("bound")
    if table is None:
        table = source.memo["bound"] = {}
    found = table.get(identifier)
    if found is None:
        found = table[identifier] = _bound(source, identifier)
    return found


def _bound(source: Source, identifier: str) -> dict[Scope, list[Binding]]:
    found: dict[Scope, list[Binding]] = {}
    declared = _declared(source)
    for node in binders(source).get(identifier, ()):
        binding = _binding(source, node, identifier)
        if binding is not None:
            scope = binding.statement if binding.how == "parameter" else scope_of(source, binding.statement)
            scope = declared.get((scope, identifier), scope) if declared else scope
            found.setdefault(scope, []).append(binding)
    return found


def local_binding(source: Source, name: ast.Name) -> Binding | None:
    """A binding of this name in the functions around the use, if there is one that is not an import."""
    if found := _comprehension(source, name):
        return found
    table, scope = bound(source, name.id), scope_of(source, name)
    while True:
        for binding in table.get(scope, ()):
            if binding.how != "import":
                return binding
        if scope is source.tree:
            return None
        scope = _outer(source, scope)


def reaching(source: Source, name: ast.Name) -> list[Binding]:
    """The bindings whose value this use may see; empty where the name is bound nowhere in the file."""
    memo: dict[ast.Name, list[Binding]] | None = source.memo.get("reaching")
    if memo is None:
        memo = source.memo["reaching"] = {}
    found = memo.get(name)
    if found is None:
        found = memo[name] = _reaching(source, name)
    return found


def _reaching(source: Source, name: ast.Name) -> list[Binding]:
    if found := _comprehension(source, name):
        return [found]
    table = bound(source, name.id)
    if not table:
        return []
    home = scope = scope_of(source, name)
    while True:
        candidates = table.get(scope)
        if candidates:
            return _reach(source, candidates, name) if scope is home else _seen_from_inside(candidates)
        if scope is source.tree:
            return []
        scope = _outer(source, scope)


def _outer(source: Source, scope: Scope) -> Scope:
    outer = scope_of(source, scope)
    while isinstance(outer, ast.ClassDef):  # a method does not see its class's names
        outer = scope_of(source, outer)
    return outer


def _seen_from_inside(candidates: list[Binding]) -> list[Binding]:
    values = [binding for binding in candidates if not isinstance(binding.value, ast.Constant)]
    return values or candidates


def _comprehension(source: Source, name: ast.Name) -> Binding | None:
    child: Any = name
    up: Any = source.parents.get(name)
    while up is not None and not isinstance(up, _STOPS):
        kind = up.__class__
        if kind in _COMPREHENSIONS:
            for index, generator in enumerate(up.generators):
                if index == 0 and child is generator and _in(source, name, generator.iter):
                    break
                path = _path_to(generator.target, name.id)
                if path is not None:
                    return Binding(name.id, generator.target, up, "comprehension", generator.iter, path)
        child, up = up, source.parents.get(up)
    return None


def _in(source: Source, node: ast.AST, outer: ast.AST) -> bool:
    up: ast.AST | None = node
    while up is not None and not isinstance(up, ast.stmt):
        if up is outer:
            return True
        up = source.parents.get(up)
    return False


def _path_to(target: ast.expr, identifier: str) -> tuple[int, ...] | None:
    if isinstance(target, ast.Name):
        return () if target.id == identifier else None
    if isinstance(target, ast.Starred):
        return (-1,) if _path_to(target.value, identifier) is not None else None
    if isinstance(target, ast.Tuple | ast.List):
        for index, item in enumerate(target.elts):
            inner = _path_to(item, identifier)
            if inner is not None:
                return inner if isinstance(item, ast.Starred) else (index, *inner)
    return None


def _declared(source: Source) -> dict[tuple[Scope, str], Scope]:
    """Which scope `global` and `nonlocal` mean."""
    declared: dict[tuple[Scope, str], Scope] | None = source.memo.get("declared")
    if declared is not None:
        return declared
    declared = source.memo["declared"] = {}
    for node in source.all(ast.Global):
        scope = scope_of(source, node)
        declared.update({(scope, name): source.tree for name in node.names})
    for inner in source.all(ast.Nonlocal):
        scope = scope_of(source, inner)
        declared.update({(scope, name): _outer(source, scope) for name in inner.names})
    return declared


def binders(source: Source) -> dict[str, list[ast.AST]]:
    """What binds a name, by that name: functions, parameters, classes, imports, handlers, then the names themselves."""
    table: dict[str, list[ast.AST]] | None = source.memo.get("binders")
    if table is None:
        table = source.memo["binders"] = defaultdict(list)
        node: Any
        for node in (*source.all(ast.FunctionDef), *source.all(ast.AsyncFunctionDef)):
            table[node.name].append(node)
        for arg in source.all(ast.arg):
            table[arg.arg].append(arg)
        for owner in source.all(ast.ClassDef):
            table[owner.name].append(owner)
        for node in (*source.all(ast.Import), *source.all(ast.ImportFrom)):
            for alias in node.names:
                table[alias.asname or alias.name.split(".")[0]].append(node)
        for handler in source.all(ast.ExceptHandler):
            if handler.name:
                table[handler.name].append(handler)
        for name in stored(source):
            table[name.id].append(name)
    return table


def _binding(source: Source, node: Any, identifier: str) -> Binding | None:
    kind = node.__class__
    if kind is ast.Name:
        return _stored(source, node)
    if kind is ast.arg:
        called = source.parents[source.parents[node]]
        return Binding(identifier, node, called, "parameter", annotation=node.annotation)
    return Binding(identifier, node, node, _HOW[kind])


def _stored(source: Source, name: ast.Name) -> Binding | None:
    path: list[int] = []
    child: ast.AST = name
    up: Any = source.parents[name]
    while (kind := up.__class__) in _UNPACKS:
        if kind is ast.Starred:
            path.append(-1)
        elif child.__class__ is not ast.Starred:
            path.append(up.elts.index(child))
        child, up = up, source.parents[up]
    way = tuple(reversed(path))
    if up.__class__ is ast.Assign:
        return Binding(name.id, name, up, "assign", up.value, way)
    if isinstance(up, ast.NamedExpr):
        return Binding(name.id, name, _holder(source, up), "assign", up.value, way)
    if isinstance(up, ast.AnnAssign):
        return Binding(name.id, name, up, "assign", up.value, way, up.annotation)
    if isinstance(up, ast.AugAssign):
        return Binding(name.id, name, up, "aug", up.value)
    if isinstance(up, ast.For | ast.AsyncFor):
        return Binding(name.id, name, up, "for", up.iter, way)
    if isinstance(up, ast.withitem):
        return Binding(name.id, name, source.parents[up], "with", up.context_expr, way)
    return None  # `del x`, comprehension targets


def _holder(source: Source, node: ast.AST) -> ast.AST:
    while not isinstance(node, ast.stmt):
        node = source.parents[node]
    return node


def blocks(source: Source) -> dict[ast.AST, Step]:
    """For each statement (and except handler): whose block it stands in, which field, which place."""
    table: dict[ast.AST, Step] | None = source.memo.get("blocks")
    if table is None:
        table = source.memo["blocks"] = {}
        for kind, nodes in source.nodes.items():
            fields = [
                f for f in ("body", "orelse", "finalbody", "handlers", "cases") if f in getattr(kind, "_fields", ())
            ]
            if not fields or kind in (ast.Lambda, ast.IfExp):
                continue
            for node in nodes:
                for field in fields:
                    table.update({item: (node, field, index) for index, item in enumerate(getattr(node, field))})
    return table


def chain(source: Source, node: ast.AST) -> list[Step]:
    """The blocks that lead from the scope's body down to the statement of the node, outermost first."""
    known: dict[ast.AST, list[Step]] | None = source.memo.get("chains")
    if known is None:
        known = source.memo["chains"] = {}
    done = known.get(node)
    if done is not None:
        return done
    table, parents = blocks(source), source.parents
    while node not in table and node in parents:
        node = parents[node]
    done = known.get(node)
    if done is not None:
        return done
    start, found = node, []
    while (step := table.get(node)) is not None:
        found.append(step)
        node = step[0]
        if node.__class__ in _BODIES:
            break
    found.reverse()
    known[start] = found
    return found


def _reach(source: Source, candidates: list[Binding], name: ast.Name) -> list[Binding]:
    use = chain(source, name)
    if len(candidates) == 1:
        only = candidates[0]
        seen = only.how == "parameter" or _relation(source, only, use, name)
        return [only] if seen or _shared_loop(chain(source, only.statement), use) else []
    again = any(isinstance(step[0], Loop) for step in use)  # a later line may come before this one
    line = name.lineno if not again else sys.maxsize
    found: list[Binding] = []
    after: list[tuple[Binding, ast.AST]] = []
    before: list[Binding] = []  # all that may run first; asked for where a branch is met
    closed: set[tuple[ast.AST, str]] = set()  # branches in which a later line binds it
    killer: Binding | None = None
    for binding in reversed(candidates):  # what stands above the one that surely is bound reaches nothing below it
        if binding.statement.lineno > line:  # type: ignore[attr-defined]  # a statement
            continue
        relation = _runs_first(source, binding, use, name)
        if relation:
            if relation != "always" and _is_closed(source, binding, closed):
                continue
            found.append(binding)
            if relation != "always" and _is_else(source, binding):
                before = before or [one for one in candidates if _runs_first(source, one, use, name)]
            others = _other_branch(source, binding, before, name) if before and relation != "always" else []
            if relation == "always" or others:
                found += [one for one in others if one not in found]
                killer = binding
                break
        elif again and (loop := _shared_loop(chain(source, binding.statement), use)):
            after.append((binding, loop))
    inner = {step[0] for step in chain(source, killer.statement)} | {killer.statement} if killer else set()
    found += [binding for binding, loop in reversed(after) if loop not in inner]
    return found


def _is_closed(source: Source, binding: Binding, closed: set[tuple[ast.AST, str]]) -> bool:
    """Whether a later line of the same branch surely binds the name anew; else this one does."""
    owner, field, _ = chain(source, binding.statement)[-1]
    if (owner, field) in closed:
        return True
    if binding.statement.__class__ is ast.Assign and owner.__class__ is ast.If:
        closed.add((owner, field))
    return False


def _runs_first(source: Source, binding: Binding, use: list[Step], name: ast.Name) -> str:
    return "always" if binding.how == "parameter" else _relation(source, binding, use, name)


def _is_else(source: Source, binding: Binding) -> bool:
    owner, field, _ = chain(source, binding.statement)[-1]
    return isinstance(owner, ast.If) and field == "orelse"


def _relation(source: Source, binding: Binding, use: list[Step], name: ast.Name) -> str:
    """`always` or `sometimes` bound before the use, or "" if only a loop's next turn could bring it there."""
    way = chain(source, binding.statement)
    if binding.node is name:
        return ""
    for depth, (mine, theirs) in enumerate(zip(way, use, strict=False)):
        if mine == theirs:
            continue
        if mine[0] is theirs[0] and mine[1] == theirs[1]:
            return _conditional(way, depth) if mine[2] < theirs[2] else ""
        exclusive = isinstance(mine[0], ast.If | ast.Match) or mine[1] in ("orelse", "finalbody")
        return "" if exclusive else "sometimes"
    if len(way) == len(use):  # the same statement
        return "always" if binding.how in ("for", "with") and _in_body(source, binding.statement, name) else ""
    return "always" if len(way) < len(use) and binding.how in ("for", "with", "assign", "except") else ""


def _in_body(source: Source, statement: ast.AST, name: ast.Name) -> bool:
    child: ast.AST = name
    up = source.parents.get(name)
    while up is not None and up is not statement:
        child, up = up, source.parents.get(up)
    return isinstance(child, ast.stmt)


def _conditional(way: list[Step], depth: int) -> str:
    """How surely a statement below the block at this depth has run when the block goes on."""
    answer = "always"
    for owner, field, _ in way[depth + 1 :]:
        if not isinstance(owner, ast.With | ast.AsyncWith):
            answer = "sometimes"
        block = getattr(owner, field)
        if isinstance(owner, ast.If) and ends(block):
            return ""
    return answer


def _other_branch(source: Source, last: Binding, before: list[Binding], name: ast.Name) -> list[Binding]:
    """For a name bound in an `else`: its bindings under the `if` and every `elif`, where one of them surely runs; else nothing."""
    owner, field, _ = chain(source, last.statement)[-1]
    ways = [(one, chain(source, one.statement)) for one in before]
    bound = {way[-1][:2] for _, way in ways if way}
    whole = None
    while isinstance(owner, ast.If) and field == "orelse" and ((owner, "body") in bound or ends(owner.body)):
        whole = owner
        owner, field, _ = blocks(source)[whole]
    if whole is None or _relation(source, last._replace(statement=whole), chain(source, name), name) != "always":
        return []
    return [one for one, way in ways if any(step[0] is whole for step in way)]


def _shared_loop(way: list[Step], use: list[Step]) -> ast.AST | None:
    found: ast.AST | None = None
    for mine, theirs in zip(way, use, strict=False):
        if mine[0] is theirs[0] and isinstance(mine[0], Loop) and mine[1] == theirs[1] == "body":
            found = mine[0]
        if mine != theirs:
            break
    return found
