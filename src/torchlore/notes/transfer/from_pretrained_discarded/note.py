"""`from_pretrained` returns a new object; as a statement it loads nothing into the old one.

`self.embedding.from_pretrained(vectors)` looks as if it filled the layer. It is a class method: it builds another
embedding, with the weights, and hands it back. Thrown away, the layer keeps its random weights, and training starts
from nothing. The same holds for every `SomeModel.from_pretrained(...)` of transformers and for `load_from_checkpoint` of Lightning.

Assign the result, `self.embedding = nn.Embedding.from_pretrained(vectors, freeze=False)`, or copy into the layer that is
there: `with torch.no_grad(): self.embedding.weight.copy_(vectors)`. Note that `freeze=True` is the default.
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import calls, classes, edits, follow, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/fenchri/edge-oriented-graph/issues/12",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["error"] > 1.0
    assert good["error"] == 0.0


WORDS = ("from_pretrained|load_from_checkpoint",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("from_pretrained", "load_from_checkpoint"):
        method = follow.method(call)
        tried = any(isinstance(up, ast.Try) for up in tree.ancestors(source, call))  # only to see whether it works
        if not tree.is_statement(source, call) or tree.is_shown(source, call) or tried or follow.in_test(source, call):
            continue
        if _again(source, call) or _in_place(source, call) or _just_saved(source, call):
            continue
        owner = tree.receiver(call)
        full = source.name(owner)
        code = source.code(owner)
        is_class = full.rpartition(".")[2][:1].isupper() or code.endswith(("cls", "class"))
        fix = () if is_class or not isinstance(owner, ast.Name | ast.Attribute) else (
            edits.replace(source, call, f"{code} = {source.code(call)}"),
        )  # fmt: skip
        what = "the result is thrown away" if is_class else f"`{code}` keeps its weights"
        write = f"model = {code}.{method}(...)" if is_class else f"{code} = ..."
        fills = (
            method == "from_pretrained" and is_class and not full.startswith("torch.")
        )  # a cache, or it imports what it needs
        told = f"{method} returns a new object and {what}: assign it, `{write}`"
        yield source.hit(call, told, *fix, severity="hint" if fills else None)


def _in_place(source: Source, call: ast.Call) -> bool:
    """A method of the project that loads into its own object and gives nothing back, or `PeftModel.from_pretrained(net, path)`."""
    if call.args and (values.maybe(source, call.args[0], "module", weak=True) or "model" in source.code(call.args[0])):
        return len(call.args) > 1
    owners = [classes.class_behind(source, value) for value in source.values(tree.receiver(call))]
    own = [source.project.method(cls, follow.method(call)) for cls in owners if cls is not None]
    return any(one is not None and not calls.returned(one) for one in own)


def _just_saved(source: Source, call: ast.Call) -> bool:
    """`net.save_pretrained(path)` and `net.from_pretrained(path)`: only to see whether it can be read."""
    given = source.code(call.args[0]) if call.args else ""
    saves = (
        one for one in source.methods("save_pretrained") if tree.function(source, one) is tree.function(source, call)
    )
    return any(given and one.args and source.code(one.args[0]) == given for one in saves)


def _again(source: Source, call: ast.Call) -> bool:
    """One process fills the cache first, then all of them ask for the same thing and keep it."""
    home = tree.function(source, call)
    others = (one for one in source.methods(follow.method(call)) if tree.function(source, one) is home)
    return any(not tree.is_statement(source, one) and source.code(one) == source.code(call) for one in others)


def watch(call: Annotated[Call, "Embedding.from_pretrained"]) -> Alarm | None:
    if not call.discarded:
        return None
    return Alarm("from_pretrained returns a new embedding, and this line throws it away; assign it")
