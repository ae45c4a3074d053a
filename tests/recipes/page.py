"""Writes docs/recipes.md from the docstrings: `python tests/recipes/page.py`. A test says when it was forgotten."""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
HEAD = """# Recipes

Every recipe of the notes as a function that is imported on its own: `from torchlore.recipes import losses`. Torch alone is
needed; torchvision, h5py, av and safetensors only where a row is about them, and only when it is called. What each takes and
gives, with an example that runs, stands in its docstring: `help(losses.iou_loss)`. What they cost beside the notes' own lines
and the best peer: [figures.md](figures.md).
"""


def modules() -> list[ModuleType]:
    import torchlore.recipes

    folder = Path(torchlore.recipes.__path__[0])
    names = sorted(path.stem for path in folder.glob("[a-z]*.py"))
    return [importlib.import_module(f"torchlore.recipes.{name}") for name in names]


def public(module: ModuleType) -> dict[str, object]:
    """The functions and classes a user imports from a module: its `__all__`, or what is defined in it."""
    names = getattr(module, "__all__", None) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]
    found = {name: getattr(module, name) for name in sorted(names)}
    return {name: thing for name, thing in found.items() if inspect.isfunction(thing) or inspect.isclass(thing)}


def first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def page() -> str:
    parts = [HEAD]
    for module in modules():
        rows = [f"| `{name}` | {first_line(thing)} |" for name, thing in public(module).items()]
        title = f"## {module.__name__.rpartition('.')[2]}\n\n{first_line(module)}\n\n| name | what it does |\n| --- | --- |\n"
        parts.append(title + "\n".join(rows) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
