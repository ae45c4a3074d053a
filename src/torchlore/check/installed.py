"""`--torch`: what the installed torch and torchvision say about the names and keywords a program uses.

The names are gathered from the parsed files and asked for in one other process; this one never imports torch.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from torchlore.check import tree
from torchlore.check.source import Hit, Source

SLUG = "not-in-this-torch"
ROOTS = ("torch.", "torchvision.")
PROBE = r"""
import difflib, importlib, inspect, json, sys, warnings
warnings.simplefilter("ignore")

def find(name):
    parts = name.split(".")
    here = importlib.import_module(parts[0])
    for depth in range(1, len(parts)):
        try:
            here = getattr(here, parts[depth])
        except AttributeError:
            try:
                here = importlib.import_module(".".join(parts[: depth + 1]))
            except ImportError:
                near = difflib.get_close_matches(parts[depth], dir(here), n=1, cutoff=0.75)
                return None, [".".join(parts[:depth]), parts[depth], near[0] if near else ""]
    return here, None

def strange(thing, words):
    try:
        known = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return []
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return []
    return [word for word in words if word not in known]

asked, said = json.load(sys.stdin), {}
for name, words in asked.items():
    try:
        thing, missing = find(name)
    except Exception:
        continue
    if missing:
        said[name] = {"missing": missing}
    elif odd := strange(thing, words):
        said[name] = {"keywords": odd}
versions = {}
for root in ("torch", "torchvision"):
    try:
        versions[root] = str(importlib.import_module(root).__version__)
    except Exception:
        versions[root] = ""
print(json.dumps({"said": said, "versions": versions}))
"""


class Trouble(RuntimeError):
    """The installed torch could not be asked."""


class Use(NamedTuple):
    """One use of a name of torch."""

    name: str
    node: ast.expr
    keywords: tuple[ast.keyword, ...]


def uses(source: Source) -> Iterator[Use]:
    """Every name of torch a file uses, with the keywords of its call; what is guarded by a test or a try is left out."""
    nodes: list[ast.Attribute | ast.Name] = [*source.all(ast.Attribute), *source.all(ast.Name)]
    for node in nodes:
        whole = not isinstance(source.parents.get(node), ast.Attribute) and isinstance(node.ctx, ast.Load)
        name = source.name(node) if whole else ""
        if not name.startswith(ROOTS) or _guarded(source, node):
            continue
        call = source.parents.get(node)
        words = call.keywords if isinstance(call, ast.Call) and call.func is node else ()
        yield Use(name, node, tuple(word for word in words if word.arg))


def _guarded(source: Source, node: ast.AST) -> bool:
    """Whether the program itself asks first: try/except, hasattr, a version test."""
    for outer in tree.ancestors(source, node):
        if isinstance(outer, ast.Try):
            return True
        if isinstance(outer, ast.If | ast.IfExp):
            test = source.code(outer.test)
            if "hasattr" in test or "ersion" in test:
                return True
    return False


def ask(sources: Iterable[Source]) -> tuple[dict[str, dict[str, list[str]]], str]:
    """What is wrong, by name, and the versions that said so."""
    wanted: dict[str, set[str]] = {}
    for source in sources:
        for use in uses(source):
            wanted.setdefault(use.name, set()).update(str(word.arg) for word in use.keywords)
    asked = json.dumps({name: sorted(words) for name, words in wanted.items()})
    done = subprocess.run(
        [sys.executable, "-c", PROBE], input=asked, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode != 0:
        raise Trouble((done.stderr.strip().splitlines() or ["torch cannot be imported"])[-1])
    answer = json.loads(done.stdout.splitlines()[-1])
    versions = " and ".join(f"{name} {version}" for name, version in answer["versions"].items() if version)
    return answer["said"], versions


def rule(said: dict[str, dict[str, list[str]]], versions: str) -> Callable[[Source], Iterator[Hit]]:
    """A `find` that tells what was answered, on the lines that use it."""

    def find(source: Source) -> Iterator[Hit]:
        for use in uses(source):
            answer = said.get(use.name, {})
            if "missing" in answer:
                owner, part, near = answer["missing"]
                hint = f"write `{near}`" if near else "it was removed or renamed"
                yield source.hit(use.node, f"{owner} has no `{part}` in {versions}: {hint}")
            for word in use.keywords:
                if word.arg in answer.get("keywords", ()):
                    yield source.hit(word.value, f"`{use.name}` takes no `{word.arg}` in {versions}: leave it out")

    return find
