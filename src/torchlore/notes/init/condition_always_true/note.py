"""`"conv" or "head" in name` is always true: a text that is not empty counts as true.

`or` takes whole conditions: this reads `("conv") or ("head" in name)`, and "conv" is true by itself. Where layers are chosen by name,
for an initialisation, a learning rate, weight decay or freezing, every layer is chosen, and the other branch never runs. The
same holds for `if mode == "train" or "val":`.

`if name.find("conv"):` is a relative: `find` gives -1 where there is none, which counts as true, and 0 where the name begins with it,
which counts as false. It chooses just the wrong ones.

Repeat the question: `"conv" in name or "head" in name`, or ask once, `any(part in name for part in ("conv", "head"))`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/zylo117/Yet-Another-EfficientDet-Pytorch/issues/722",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["chosen"] == 6
    assert good["chosen"] == 4


WORDS = ("find|or",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("find"):
        text = tree.literal(call.args[0]) if len(call.args) == 1 and not call.keywords else None
        if isinstance(text, str) and _is_asked(source, call) and _is_text(source, tree.receiver(call)):
            fixed = f"{source.code(call.args[0])} in {source.code(tree.receiver(call))}"
            told = f"`find` gives -1 where there is none, and -1 counts as true: write `{fixed}`"
            yield source.hit(call, told, edits.replace(source, call, fixed))
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
