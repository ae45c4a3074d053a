"""A result that has a name for one line only stands where it is read; a repair never reaches over the two lines."""

import ast
import time

import pytest

from torchlore.check.edits import replace
from torchlore.check.source import Source
from torchlore.finding import Edit


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("h = x.abs()\ny = h.sum()", "y = x.abs().sum()"),
        ("h = torch.ones(3)\ny = f(h, 1)", "y = f(torch.ones(3), 1)"),
        ("a = x.float()\nb = a.mean()\nc = b.item()", "c = x.float().mean().item()"),
    ],
)
def test_a_name_for_one_line_is_joined(text, joined):
    assert ast.unparse(Source(text).tree) == joined


@pytest.mark.parametrize(
    "text",
    [
        "h = x.abs()\ny = h.sum()\nz = h",  # read again
        "h = x.to('cpu', non_blocking=True)\ny = h.sum()",  # a copy that is under way
        "h = net(x)\ny = h.sum()",  # the name says what the net gives
        "h = x.abs()\ny = g() + h.sum()",  # something runs in between
        "h = x.abs()\ny = [h.sum() for _ in range(3)]",  # runs once, is read three times
        "h = x.abs()\nif a:\n    y = h.sum()",
        "h = x.abs()\nh.sum()",
    ],
)
def test_other_names_stay(text):
    assert ast.unparse(Source(text).tree) == text


def test_a_repair_that_reaches_over_both_lines_is_left_out():
    source = Source("h = x.detach()\ny = h.sum()\n")
    outer = next(one for one in source.all(ast.Call) if isinstance(one.func, ast.Attribute) and one.func.attr == "sum")
    assert source.hit(outer, "why", Edit(4, source.span(outer)[1], "x.sum()")).edits == ()
    assert source.hit(outer, "why", replace(source, outer, "x.sum()")).edits != ()


@pytest.mark.parametrize(
    ("text", "gathered"),
    [
        ("for b in loader:\n    x = b[0]\n    y = b[1]\n    f(x, y)", "for x, y in loader:\n    f(x, y)"),
        (
            "for i, b in enumerate(loader):\n    x = b[0]\n    y = b[1]\n    f(x, y)",
            "for i, (x, y) in enumerate(loader):\n    f(x, y)",
        ),
    ],
)
def test_the_parts_of_a_batch_by_their_numbers(text, gathered):
    assert ast.unparse(Source(text).tree) == gathered


@pytest.mark.parametrize(
    "text",
    [
        "for b in loader:\n    x = b[0]\n    y = b[1]\n    f(x, y, b)",  # read again
        "for i in range(3):\n    x = b[0]\n    y = b[1]\n    f(x, y)",  # not what the loop hands out
        "for b in loader:\n    x = b[1]\n    y = b[0]\n    f(x, y)",
    ],
)
def test_other_parts_stay(text):
    assert ast.unparse(Source(text).tree) == text


def test_functions_that_use_one_name_cost_what_each_costs():
    text = "".join(f"def f{at}(a):\n    b = a.cuda()\n    return torch.relu(b)\n" for at in range(4000))
    begun = time.process_time()
    tree = Source(text).tree
    assert time.process_time() - begun < 4  # every name against every function took 17 s
    assert ast.unparse(tree.body[-1]) == "def f3999(a):\n    return torch.relu(a.cuda())"
