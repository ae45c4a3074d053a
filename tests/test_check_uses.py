"""The tables of a file: what is looked up in them is what a walk over the tree finds."""

import ast
import re
import sys

import pytest

from torchlore.catalogue import parts
from torchlore.check import grouped, scopes, uses
from torchlore.check.pattern import regex
from torchlore.check.project import Project
from torchlore.check.source import Source
from torchlore.check.walk import children

TEXT = """
import torch.nn as nn, os.path
from torch import relu as act
LIMIT = 3
async def fetch(url, *rest, key=None): return url
def outer(x):
    global total
    total, (a, *b) = x, x
    a.first = a[0] = b
    def x(): return a
    try:
        pass
    except ValueError as error:
        error = None
    with open(key=LIMIT) as file:
        return [one for one in file if (size := len(one))]
class Net(nn.Module, metaclass=type):
    scale: int = 1
    def forward(self, x, scale=2):
        self.x = x
        return act(x, inplace=True) + (lambda scale: scale)(scale=x)
"""


@pytest.fixture
def source():
    return Source(TEXT)


def test_keywords_come_by_name(source):
    assert [one.arg for one in uses.keywords(source, "scale", "nothing", "key")] == ["scale", "key"]


def test_assignments_come_by_what_is_bound_and_by_what_is_given(source):
    assert [one.lineno for one in uses.assigns(source, ast.Tuple)] == [8]
    assert [one.lineno for one in uses.assigns(source, None, ast.Name)] == [9, 20]
    assert [one.lineno for one in uses.assigns(source, ast.Attribute, ast.Name)] == [9, 20]
    assert not uses.assigns(source, ast.Name, ast.Call)


def test_nodes_come_by_what_they_hold():
    source = Source("x[0] = y[:, -1] = 2 * a[0] @ b - c\nx.add_(1)\ny = x.add_(2)\nf(x)\n")
    assert [source.code(one) for one in grouped.indexed(source, ast.Constant)] == ["x[0]", "a[0]"]
    assert [source.code(one) for one in grouped.stored(source)] == ["x[0]", "y[:, -1]"]
    assert [source.code(one) for one in grouped.operations(source, ast.MatMult, ast.Sub)] == [
        "2 * a[0] @ b",
        "2 * a[0] @ b - c",
    ]
    assert {name: [source.code(one) for one in found] for name, found in grouped.alone(source).items()} == {
        "add_": ["x.add_(1)"]
    }


def test_stored_names_are_those_that_are_not_read(source):
    names = [one for one in ast.walk(ast.parse(TEXT)) if isinstance(one, ast.Name)]
    assert sorted(one.id for one in uses.stored(source)) == sorted(
        one.id for one in names if not isinstance(one.ctx, ast.Load)
    )


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("nn", [("Module", "import")]),
        ("os", [("Module", "import")]),
        ("act", [("Module", "import")]),
        ("url", [("fetch", "parameter")]),
        ("rest", [("fetch", "parameter")]),
        ("x", [("forward", "parameter"), ("outer", "def"), ("outer", "parameter")]),
        ("total", [("Module", "assign")]),
        ("a", [("outer", "assign")]),
        ("error", [("outer", "assign"), ("outer", "except")]),
        ("file", [("outer", "with")]),
        ("size", [("outer", "assign")]),
        ("scale", [("Lambda", "parameter"), ("Net", "assign"), ("forward", "parameter")]),
        ("Net", [("Module", "class")]),
        ("one", []),
        ("nobody", []),
    ],
)
def test_a_name_is_bound_where_it_is_bound(source, name, found):
    table = scopes.bound(source, name)
    told = [(getattr(scope, "name", type(scope).__name__), one.how) for scope in table for one in table[scope]]
    assert sorted(told) == found


def test_the_tables_hold_every_node_and_its_parent(source):
    below = [source.tree]
    for node in below:
        for child in children(node):
            assert source.parents[child] is node
            below.append(child)
    assert {*map(id, below)} == {*map(id, source.flat)} == {id(one) for group in source.nodes.values() for one in group}


def test_a_module_beside_is_found_however_many_were_asked_for_before(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("lib/parts/wheel.py", "lib/__init__.py", "app/main.py", "helper.py", "lib/parts/deep/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    project = Project()
    asked = [
        "lib.nothing",
        "lib.parts.wheel",
        "lib",
        "lib.parts.deep",
        "helper",
        "helper.inner",
        "other.helper",
        "lib.parts",
    ]
    told = {name: project.path(name, "app/main.py") or "" for name in asked}
    assert {name: path for name, path in told.items() if path} == {
        "lib.parts.wheel": "lib/parts/wheel.py",
        "lib": "lib/__init__.py",
        "lib.parts.deep": "lib/parts/deep/__init__.py",
        "helper": "helper.py",
    }


def test_a_late_pattern_answers_as_a_compiled_one_does():
    late, made = regex(r"(\w)\1", re.IGNORECASE), re.compile(r"(\w)\1", re.IGNORECASE)
    assert [one.span() for one in late.finditer("aAbcc")] == [one.span() for one in made.finditer("aAbcc")]
    assert late.sub("-", "aAbcc") == made.sub("-", "aAbcc")
    assert (late.pattern, late.flags, late.groups) == (made.pattern, made.flags, made.groups)
    assert not hasattr(late, "scanner")


def test_every_late_pattern_of_the_rules_compiles():
    finds = {find.__module__ for find in parts("find").values()}
    rooms = [module for name, module in sys.modules.items() if name in finds or name.startswith("torchlore.check.")]
    late = [one for module in rooms for one in vars(module).values() if type(one) is type(regex(""))]
    assert len(late) > 100
    assert all(one.search("") is None or one.pattern is not None for one in late)
