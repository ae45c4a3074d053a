"""The rule of condition-always-true."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, tree, values
from torchlore.check.source import Hit, Source

WORDS = ("find|or|append",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("find"):
        text = tree.literal(call.args[0]) if len(call.args) == 1 and not call.keywords else None
        if isinstance(text, str) and _is_asked(source, call) and _is_text(source, tree.receiver(call)):
            fixed = f"{source.code(call.args[0])} in {source.code(tree.receiver(call))}"
            told = f"`find` gives -1 where there is none, and -1 counts as true: write `{fixed}`"
            yield source.hit(call, told, edits.replace(source, call, fixed))
    yield from _with_itself(source)
    for one in source.all(ast.BoolOp):
        texts = [part for part in one.values if isinstance(tree.literal(part), str) and tree.literal(part)]
        tests = [part for part in one.values if isinstance(part, ast.Compare) and len(part.ops) == 1] if texts else []
        if not isinstance(one.op, ast.Or) or not tests or not _is_asked(source, one):
            continue
        model = tests[0]
        mended = [_mended(source, model, part) for part in texts]
        if all(mended):
            fixes = [edits.replace(source, part, text) for part, text in zip(texts, mended, strict=True)]
            yield source.hit(one, f"`{source.code(texts[0])}` alone is always true: write `{mended[0]}`", *fixes)


def _with_itself(source: Source) -> Iterator[Hit]:
    """`losses.append(loss)`, and `if loss <= losses[-1]` below it."""
    for test in source.all(ast.Compare) if "[-1]" in source.text else ():
        for one, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            last = isinstance(other, ast.Subscript) and tree.literal(other.slice) == -1
            box = source.code(other.value) if isinstance(other, ast.Subscript) and last else ""
            if not box or len(test.ops) != 1 or not isinstance(one, ast.Name) or not _put_there(source, test, one, box):
                continue
            word = "true" if isinstance(test.ops[0], ast.LtE | ast.GtE | ast.Eq) else "false"
            told = f"`{one.id}` was just appended, so `{source.code(other)}` is `{one.id}` itself, and this is always {word}: ask before it is appended, or keep the best apart"
            yield source.hit(test, told, severity="warning")


def _put_there(source: Source, test: ast.Compare, name: ast.Name, box: str) -> bool:
    """Whether the line before the question, but for lines that have to do with neither, appends the one to the other."""
    choice = tree.statement(source, test)
    block = next((part for part in tree.blocks(source.parents[choice]) if choice in part), [])
    for line in reversed(block[: block.index(choice)]) if isinstance(choice, ast.If) and choice.test is test else ():
        call = line.value if isinstance(line, ast.Expr) and isinstance(line.value, ast.Call) else None
        if call is not None and follow.method(call) == "append" and source.code(tree.receiver(call)) == box:
            return len(call.args) == 1 and tree.dotted(call.args[0]) == name.id
        code = source.code(line)
        if box in code or re.search(rf"\b{name.id}\s*[-+*/]?=(?!=)", code):
            return False
    return False


def _is_text(source: Source, node: ast.expr) -> bool:
    """Whether it is a text: `soup.find("a")` gives an element, or None."""
    name = tree.dotted(node).rpartition(".")[2].lower()
    return values.sure(source, node, "string") or name.endswith(("name", "key", "path", "__name__"))


def _is_asked(source: Source, node: ast.AST) -> bool:
    """Whether the value is a condition, and not a default as in `name = given or "none"`."""
    up = source.parents[node]
    while isinstance(up, ast.BoolOp | ast.UnaryOp):
        node, up = up, source.parents[up]
    return (isinstance(up, ast.If | ast.While | ast.IfExp) and up.test is node) or isinstance(up, ast.comprehension)


def _mended(source: Source, model: ast.Compare, text: ast.expr) -> str:
    """The text asked for in the way of the condition beside it; "" where it has none."""
    left, right = source.code(model.left), source.code(model.comparators[0])
    if isinstance(model.ops[0], ast.In) and isinstance(tree.literal(model.left), str):
        return f"{source.code(text)} in {right}"
    if isinstance(model.ops[0], ast.Eq) and isinstance(tree.literal(model.comparators[0]), str):
        return f"{left} == {source.code(text)}"
    return ""
