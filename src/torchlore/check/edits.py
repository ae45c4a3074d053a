"""Edits of the text: each keeps the user's formatting and comments outside the span it replaces."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check.names import top_level
from torchlore.check.tree import statement
from torchlore.finding import Edit

if TYPE_CHECKING:
    from torchlore.check.source import Source


def replace(source: Source, node: ast.AST, text: str) -> Edit:
    """Put this text in place of a node."""
    return Edit(*source.span(node), text)


def append(source: Source, node: ast.AST, text: str) -> Edit:
    """Add text right behind a node: `append(source, loss, ".item()")`; a bare operation is put in parentheses by `wrap`."""
    end = source.span(node)[1]
    return Edit(end, end, text)


def delete_behind(source: Source, node: ast.AST, count: int) -> Edit:
    """Delete so many characters behind a node."""
    end = source.span(node)[1]
    return Edit(end, end + count, "")


def wrap(source: Source, node: ast.expr, before: str, after: str = ")") -> tuple[Edit, Edit]:
    """Add text on both sides of a node: `wrap(source, x, "copy.deepcopy(")`."""
    start, end = source.span(node)
    return Edit(start, start, before), Edit(end, end, after)


def method(source: Source, node: ast.expr, call: str) -> tuple[Edit, ...]:
    """Call a method on an expression, with parentheses where it needs them: `a + b` becomes `(a + b).item()`."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return (append(source, node, f".{call}"),)
    return wrap(source, node, "(", f").{call}")


def rename(source: Source, node: ast.Attribute, name: str) -> Edit:
    """Change the last part of `x.attr`, and all of a name that was imported alone."""
    start, end = source.span(node)
    return Edit(max(end - len(node.attr), start), end, name)


def insert_before(source: Source, node: ast.AST, *lines: str) -> Edit:
    """Put new statements on lines of their own before the statement of a node, with its indentation."""
    start = _line_start(source, statement(source, node))
    indent = _indent(source, start)
    return Edit(start, start, "".join(f"{indent}{line}{newline(source)}" for line in lines))


def insert_after(source: Source, node: ast.AST, *lines: str) -> Edit:
    """Put new statements on lines of their own after the statement of a node, with its indentation."""
    owner = statement(source, node)
    indent = _indent(source, _line_start(source, owner))
    end = _line_end(source, source.span(owner)[1])
    return Edit(end, end, "".join(f"{newline(source)}{indent}{line}" for line in lines))


def insert_first(source: Source, block: ast.AST, *lines: str) -> Edit:
    """Put new statements at the top of the body of a function, loop or `with`, after its docstring."""
    body: list[ast.stmt] = getattr(block, "body", [])
    first = body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1
    return insert_before(source, body[1] if documented else first, *lines)


def delete(source: Source, node: ast.AST) -> Edit:
    """Take a whole statement out, its line included; `pass` stays where the block would be empty."""
    owner = statement(source, node)
    start, end = source.span(owner)
    up = source.parents.get(owner)
    siblings = next(
        (block for field in ("body", "orelse", "finalbody") if owner in (block := getattr(up, field, []))), []
    )
    if len(siblings) == 1 or not _alone(source, start, end):
        return Edit(start, end, "pass")
    line_end = _line_end(source, end)
    stop = line_end + len(newline(source)) if line_end < len(source.text) else line_end
    return Edit(_line_start(source, owner), stop, "")


def move_before(source: Source, node: ast.AST, anchor: ast.AST) -> tuple[Edit, Edit]:
    """Move a one-line statement before the statement of another node, into its block."""
    return insert_before(source, anchor, _whole(source, node)), delete(source, node)


def move_after(source: Source, node: ast.AST, anchor: ast.AST) -> tuple[Edit, Edit]:
    """Move a one-line statement after the statement of another node, into its block."""
    return insert_after(source, anchor, _whole(source, node)), delete(source, node)


def _whole(source: Source, node: ast.AST) -> str:
    """The statement of a node with the comment behind it."""
    start, end = source.span(statement(source, node))
    rest = source.text[end : _line_end(source, end)]
    return source.text[start:end] + (rest if rest.strip().startswith("#") else "")


def add_keyword(source: Source, call: ast.Call, name: str, value: str) -> Edit:
    """Add a keyword argument to a call, before `**kwargs` where there is one."""
    given = [*call.args, *call.keywords]
    stars = [keyword for keyword in call.keywords if keyword.arg is None]
    text = f"{name}={value}"
    if stars:
        at = source.span(stars[0].value)[0] - 2
        return Edit(at, at, f"{text}, ")
    if not given:
        end = source.span(call)[1] - 1
        return Edit(end, end, text)
    last = max(source.span(one.value if isinstance(one, ast.keyword) else one)[1] for one in given)
    only_generator = len(given) == 1 and isinstance(given[0], ast.GeneratorExp)
    if only_generator:
        start, end = source.span(given[0])
        inner = source.text[start:end]
        bare = end == source.span(call)[1]  # `f(x for x in y)`: the generator shares the call's parentheses
        return Edit(start, end, f"{inner}, {text}" if not bare else f"({inner}, {text})")
    rest = source.text[last : source.span(call)[1]]
    closing = len(rest) - len(rest.lstrip(") \t\r\n")) if rest.strip(") \t\r\n,") == "" else 0
    parentheses = rest[:closing].count(")") - 1 if "," not in rest else 0
    at = last + (_after_parentheses(rest, parentheses) if parentheses > 0 else 0)
    return Edit(at, at, f", {text}")


def _after_parentheses(rest: str, count: int) -> int:
    position = 0
    for _ in range(count):
        position = rest.index(")", position) + 1
    return position


def set_keyword(source: Source, call: ast.Call, name: str, value: str) -> Edit:
    """Change a keyword argument of a call, or add it."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return replace(source, keyword.value, value)
    return add_keyword(source, call, name, value)


def remove_argument(source: Source, call: ast.Call, argument: ast.expr) -> Edit:
    """Take a positional or keyword argument out of a call, with its comma."""
    nodes: list[ast.AST] = [*call.args, *call.keywords]
    nodes.sort(key=source.span)
    spans = [source.span(one) for one in nodes]
    index = next(i for i, one in enumerate(nodes) if one is argument or getattr(one, "value", None) is argument)
    if index + 1 < len(spans):
        return Edit(spans[index][0], spans[index + 1][0], "")
    start = spans[index - 1][1] if index else spans[index][0]
    end = spans[index][1]
    return Edit(start, end, "")


def add_import(source: Source, line: str) -> Edit | None:
    """Add an import line after the last import at the top of the file; None where it is there already."""
    if any(source.code(node) == line for node in (*source.all(ast.Import), *source.all(ast.ImportFrom))):
        return None
    anchor: ast.stmt | None = None
    for node in top_level(source.tree):
        documentation = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and anchor is None
        if documentation or (isinstance(node, ast.Import | ast.ImportFrom) and source.parents[node] is source.tree):
            anchor = node
    if anchor is None:
        return Edit(0, 0, f"{line}{newline(source)}")
    end = _line_end(source, source.span(anchor)[1])
    return Edit(end, end, f"{newline(source)}{line}")


def newline(source: Source) -> str:
    """The line ending the file uses."""
    return "\r\n" if "\r\n" in source.text[:2000] else "\n"


def _line_start(source: Source, node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", [])
    line: int = min([getattr(node, "lineno", 1), *(one.lineno for one in decorators)])
    return source.line_starts[line - 1]


def _line_end(source: Source, offset: int) -> int:
    ends = [at for at in (source.text.find("\n", offset), source.text.find("\r", offset)) if at >= 0]
    return min(ends, default=len(source.text))


def _indent(source: Source, start: int) -> str:
    stop = start
    while stop < len(source.text) and source.text[stop] in " \t\f":
        stop += 1
    return source.text[start:stop]


def _alone(source: Source, start: int, end: int) -> bool:
    """Whether nothing but the statement (and a comment) stands on its lines."""
    line = source.line_starts[source.place(start)[0] - 1]
    before = source.text[line:start]
    after = source.text[end : _line_end(source, end)].strip()
    return not before.strip() and (not after or after.startswith("#"))


def spelled(source: Source, full: str) -> str:
    """How this file would write a full name: `torch.nn.ModuleList` is `nn.ModuleList` where `nn` is imported."""
    best = full
    for identifier, name in source.names.imported.items():
        if name == full:
            return identifier
        if full.startswith(f"{name}.") and len(identifier) + len(full) - len(name) < len(best):
            best = identifier + full[len(name) :]
    return best
