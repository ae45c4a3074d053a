"""Edits and fixes: formatting and comments stay, the result parses, a second run changes nothing."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlore.check import edits, fixes
from torchlore.check.engine import Rule, check_text
from torchlore.check.source import Source
from torchlore.finding import Edit, Finding, Severity


def edited(text, build, kind=ast.Call):
    source = Source(text)
    found = build(source, list(source.all(kind))[-1])
    return fixes.splice(text, [found] if isinstance(found, Edit) else found)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("f()", "f(k=1)"),
        ("f(a)", "f(a, k=1)"),
        ("f(a,)", "f(a, k=1,)"),
        ("f(a, **kw)", "f(a, k=1, **kw)"),
        ("f((a))", "f((a), k=1)"),
        ("f(\n    a,  # why\n    b=2,\n)", "f(\n    a,  # why\n    b=2, k=1,\n)"),
        ("f(x for x in y)", "f((x for x in y), k=1)"),
        ("f(g(a)[0])", "f(g(a)[0], k=1)"),
        ("f('é', \"ü\")", "f('é', \"ü\", k=1)"),
    ],
)
def test_a_keyword_is_added(text, after):
    source = Source(text)
    call = source.tree.body[0].value
    result = fixes.splice(text, [edits.add_keyword(source, call, "k", "1")])
    assert result == after
    assert fixes.parses(result)


def test_statements_are_inserted_with_indentation_and_line_ending():
    text = "for i in x:\r\n\tf(i)  # note\r\n"
    assert (
        edited(text, lambda s, n: edits.insert_before(s, n, "a()", "b()"))
        == "for i in x:\r\n\ta()\r\n\tb()\r\n\tf(i)  # note\r\n"
    )
    assert edited(text, lambda s, n: edits.insert_after(s, n, "a()")) == "for i in x:\r\n\tf(i)  # note\r\n\ta()\r\n"


def test_statements_are_deleted_and_moved():
    assert edited("a()\nb()  # gone\nc = 1\n", edits.delete) == "a()\nc = 1\n"
    assert edited("if x:\n    b()\n", edits.delete) == "if x:\n    pass\n"
    text = "def f():\n    a = 1\n    b()  # keep\n"
    moved = edited(text, lambda s, n: edits.move_before(s, n, next(s.all(ast.Assign))))
    assert moved == "def f():\n    b()  # keep\n    a = 1\n"


def test_imports_are_added_once_and_in_place():
    text = '"""Doc."""\nfrom __future__ import annotations\nimport os\n\nf()\n'
    assert edited(text, lambda s, _: edits.add_import(s, "import copy")).split("\n")[3] == "import copy"
    assert edits.add_import(Source("import copy\n"), "import copy") is None
    assert edited("f()\n", lambda s, _: edits.add_import(s, "import copy")) == "import copy\nf()\n"


def test_arguments_are_removed_and_names_spelled_as_the_file_does():
    assert edited("f(a, b=2, c=3)", lambda s, n: edits.remove_argument(s, n, n.keywords[0].value)) == "f(a, c=3)"
    assert edited("f(a, b=2)", lambda s, n: edits.remove_argument(s, n, n.keywords[0].value)) == "f(a)"
    assert edited("f(a, b)", lambda s, n: edits.remove_argument(s, n, n.args[0])) == "f(b)"
    assert edits.spelled(Source("from torch import nn"), "torch.nn.ModuleList") == "nn.ModuleList"
    assert edits.spelled(Source("import torch"), "torch.nn.ModuleList") == "torch.nn.ModuleList"


def test_a_method_call_gets_parentheses_where_it_needs_them():
    source = Source("t(a + b)\nt(c)")
    first, second = (call.args[0] for call in source.all(ast.Call))
    assert fixes.splice(
        source.text, [*edits.method(source, first, "item()"), *edits.method(source, second, "item()")]
    ) == ("t((a + b).item())\nt(c.item())")


def renames(source):
    for call in source.methods("old"):
        yield source.hit(call, "old is new", edits.rename(source, call.func, "new"))


RULES = {"renamed": Rule("renamed", renames, Severity.HINT)}


def test_fixes_reach_a_fixed_point_and_keep_comments():
    text = "x.old(  # why\n    y.old())\n"
    fixed, count = fixes.fix(text, lambda one: check_text(one, RULES))
    assert fixed == "x.new(  # why\n    y.new())\n"
    assert count == 2
    assert fixes.fix(fixed, lambda one: check_text(one, RULES)) == (fixed, 0)


def test_a_fix_that_loses_a_comment_or_breaks_the_text_is_refused():
    text = "f(a,  # a comment\n  b)\n"
    whole = Finding("s", "m", edits=(Edit(0, 21, "g()"),))
    assert fixes.apply(text, [whole]) == (text, 0)
    assert fixes.apply("f(a)\n", [Finding("s", "m", edits=(Edit(0, 1, "(("),))]) == ("f(a)\n", 0)


def test_overlapping_fixes_wait_for_the_next_pass():
    one, two = Finding("a", "m", edits=(Edit(0, 3, "x"),)), Finding("b", "m", edits=(Edit(2, 5, "y"),))
    assert fixes.apply("abcde", [one, two]) == ("xde", 1)


def test_two_fixes_that_undo_each_other_end():
    def swaps(source):
        for name in source.all(ast.Name):
            yield source.hit(name, "m", edits.replace(source, name, "b" if name.id == "a" else "a"))

    fixed, _ = fixes.fix("a\n", lambda one: check_text(one, {"s": Rule("s", swaps)}))
    assert fixed in ("a\n", "b\n")


def test_unsafe_fixes_need_the_flag():
    def risky(source):
        for name in source.all(ast.Name):
            if name.id == "a":
                yield source.hit(name, "m", edits.replace(source, name, "b"), safe=False)

    rules = {"s": Rule("s", risky)}
    assert fixes.fix("a\n", lambda one: check_text(one, rules))[0] == "a\n"
    assert fixes.fix("a\n", lambda one: check_text(one, rules), unsafe=True)[0] == "b\n"


@given(st.text(alphabet="aé漢😀 ", max_size=6), st.text(alphabet="bü", max_size=4))
@settings(deadline=None, max_examples=60)
def test_positions_count_characters_whatever_the_encoding(before, inside):
    text = f"x = {before!r}; y = f({inside!r})\n"
    source = Source(text)
    call = next(source.all(ast.Call))
    assert source.code(call) == f"f({inside!r})"
    hit = source.hit(call, "m")
    assert text[hit.column - 1 :].startswith("f(")
