"""The rule of image-not-converted-to-rgb."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, tree, values
from torchlore.check.source import Hit, Source

_FUNCTIONS = {f"torchvision.transforms.{room}{name}" for room in ("functional.", "v2.functional.")
              for name in ("to_tensor", "pil_to_tensor", "to_image")}  # fmt: skip
_MAKERS = {
    f"torchvision.transforms.{room}{name}" for room in ("", "v2.") for name in ("ToTensor", "PILToTensor", "ToImage")
}
_OTHER = re.compile(r"mask|label|seg|target|gt|palette|depth|annot|grey|gray|alpha", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("PIL.Image.open"):
        drawn = call.args and re.match(r"^(buf|buffer|io|stream)\w*$", source.code(call.args[0]))
        if follow.in_test(source, call) or drawn:
            continue  # reads what it wrote
        if _becomes_tensor(source, call) and not _OTHER.search(source.code(tree.statement(source, call))):
            code = source.code(call)
            message = f'the file may be grey, RGBA, 16-bit or a palette: write `{code}.convert("RGB")`'
            parts = _path_parts(call)
            known = any(
                isinstance(one, ast.Constant) or _known(source, one) for one in parts
            )  # this one file, or its own
            edit = edits.append(source, call, '.convert("RGB")')
            yield source.hit(
                call, message, edit, safe=False, severity="hint" if known or not _many(source, call) else None
            )


def _many(source: Source, call: ast.Call) -> bool:
    """Whether file after file is opened here: in a dataset, or in a loop or a function that is handed the path."""
    home = tree.function(source, call)
    return home is not None and (home.name == "__getitem__" or bool(tree.loops(source, call)) or bool(home.args.args))


def _known(source: Source, part: ast.expr) -> bool:
    """A parameter that stands for one file unless told otherwise, or frames and samples that a program wrote."""
    home = tree.function(source, part)
    named = [*home.args.posonlyargs, *home.args.args] if home is not None else []
    defaults = [*zip(named[::-1], home.args.defaults[::-1], strict=False)] if home is not None else []
    said = any(
        isinstance(part, ast.Name) and one.arg == part.id and isinstance(tree.literal(value), str)
        for one, value in defaults
    )
    return said or bool(re.search("frame|sample|generated|fake", source.code(part), re.IGNORECASE))


def _path_parts(opened: ast.Call) -> list[ast.expr]:
    """The last part of the path that is opened: `"a.png"`, of `join(folder, "a.png")` and of `folder / "a.png"` too."""
    path = opened.args[0] if opened.args else None
    if isinstance(path, ast.Call):
        return path.args[-1:]
    return [path.right] if isinstance(path, ast.BinOp) else [path] if path is not None else []


def _becomes_tensor(source: Source, opened: ast.Call) -> bool:
    """Whether the image is made a tensor as it was opened, directly or through one name."""
    up = source.parents[opened]
    if isinstance(up, ast.Call):
        return opened in up.args and _makes_tensor(source, up)
    target = up.optional_vars if isinstance(up, ast.withitem) else up.targets[0] if isinstance(up, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return False
    home = tree.function(source, opened) or source.tree
    names = [n for n in tree.body_nodes(home) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    ups = [source.parents[name] for name in names]
    if any(isinstance(use, ast.Attribute) for use in ups):
        return False  # something else is done with it first
    return any(isinstance(use, ast.Call) and _makes_tensor(source, use) for use in ups)


def _makes_tensor(source: Source, call: ast.Call) -> bool:
    made = values.values(source, call.func)
    return source.name(call.func) in _FUNCTIONS or (bool(made) and all(value.name in _MAKERS for value in made))
