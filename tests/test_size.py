"""The budgets that keep the code readable, printed as a table. They may be lowered; raising one needs a reason."""

import ast
import io
import statistics
import tokenize
from collections import Counter
from pathlib import Path

import pytest

import torchlore

ROOT = Path(torchlore.__file__).parent
SCRIPTS = {"bad", "good", "cases"}
FILES = sorted(path for path in ROOT.rglob("*.py") if not (path.stem in SCRIPTS and "notes" in path.parts))
LIMITS = {
    "function, median lines": 8,
    "function, 95th percentile": 35,
    "function, longest": 60,
    "file, 95th percentile": 400,
    "file, longest": 600,
    "class, longest": 200,
    "class, methods": 15,
    "arguments, 95th percentile": 5,
    "arguments, most": 8,
    "nesting, 95th percentile": 3,
    "copied lines, percent": 3,
}
NOTE_LIMITS = {"note": 100, "bad": 40, "good": 40, "cases": 200, "errata": 300}
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(path: Path) -> set[int]:
    """Numbers of the lines that hold code: no blank, no comment, no docstring."""
    text = path.read_text(encoding="utf-8")
    lines: set[int] = set()
    quiet = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in quiet:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, Function)) and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def depth(node: ast.AST) -> int:
    """How deep blocks stand inside each other."""
    below = [depth(child) for child in ast.iter_child_nodes(node) if not isinstance(child, Function | ast.ClassDef)]
    return max(below, default=0) + isinstance(node, BLOCKS)


def percentile(values: list[int], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def copied(files: list[Path]) -> float:
    """Percent of code lines inside an 8-line window that stands elsewhere too."""
    windows: Counter[tuple[str, ...]] = Counter()
    texts = []
    for path in files:
        source = path.read_text(encoding="utf-8").splitlines()
        code = [source[n - 1].strip() for n in sorted(code_lines(path))]
        texts.append([line for line in code if not line.startswith(("import ", "from ", ")", "]", "}"))])
        windows.update({tuple(texts[-1][i : i + 8]) for i in range(len(texts[-1]) - 7)})
    twice = total = 0
    for code in texts:
        hit = {j for i in range(len(code) - 7) if windows[tuple(code[i : i + 8])] > 1 for j in range(i, i + 8)}
        twice, total = twice + len(hit), total + len(code)
    return 100 * twice / max(total, 1)


def measure() -> dict[str, float]:
    functions, arguments, nesting, classes, methods = [0], [0], [0], [0], [0]
    for path in FILES:
        lines = code_lines(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                span = range(node.lineno, node.end_lineno + 1)
                functions.append(len(lines.intersection(span)))
                spec = node.args
                named = [a.arg for a in spec.posonlyargs + spec.args + spec.kwonlyargs]
                arguments.append(len([name for name in named if name not in ("self", "cls")]))
                nesting.append(depth(node))
            elif isinstance(node, ast.ClassDef):
                classes.append(len(lines.intersection(range(node.lineno, node.end_lineno + 1))))
                methods.append(sum(isinstance(child, Function) for child in node.body))
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in FILES]
    return {
        "function, median lines": statistics.median(functions),
        "function, 95th percentile": percentile(functions, 0.95),
        "function, longest": max(functions),
        "file, 95th percentile": percentile(sizes, 0.95),
        "file, longest": max(sizes),
        "class, longest": max(classes),
        "class, methods": max(methods),
        "arguments, 95th percentile": percentile(arguments, 0.95),
        "arguments, most": max(arguments),
        "nesting, 95th percentile": percentile(nesting, 0.95),
        "copied lines, percent": copied([p for p in FILES if p.stem != "errata"]),
    }


def test_the_code_stays_within_its_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    seen = measure()
    table = "\n".join(f"{name:28}{seen[name]:8.1f}{limit:8}" for name, limit in LIMITS.items())
    with capsys.disabled():
        print(
            f"\n{'budget':28}{'is':>8}{'limit':>8}\n{table}\n{len(FILES)} files, {sum(len(code_lines(p)) for p in FILES)} code lines"
        )
    assert not {name: value for name, value in seen.items() if value > LIMITS[name]}


@pytest.mark.parametrize("name", NOTE_LIMITS)
def test_a_note_is_short(name: str) -> None:
    paths = (ROOT / "notes").glob(f"*/*/{name}.py")
    long = {str(p.relative_to(ROOT)): n for p in paths if (n := len(p.read_text().splitlines())) > NOTE_LIMITS[name]}
    assert not long


def test_public_functions_are_typed_and_documented() -> None:
    bare = []
    for path in FILES:
        if "notes" in path.parts:
            continue  # the contract names a note's parts; its page documents them
        tree = ast.parse(path.read_text(encoding="utf-8"))
        owners = [
            tree,
            *(node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")),
        ]
        nodes = (node for owner in owners for node in owner.body if isinstance(node, Function))
        public = (node for node in nodes if not node.name.startswith("_"))
        lacking = [node for node in public if ast.get_docstring(node) is None or node.returns is None]
        bare += [f"{path.relative_to(ROOT)}:{node.lineno} {node.name}" for node in lacking]
    assert not bare
