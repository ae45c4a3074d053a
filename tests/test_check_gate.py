"""The words that rules name: what each entry means, and that no rule loses a finding by its own."""

import pytest
from test_check_programs import PROGRAMS

from torchlore.catalogue import notes
from torchlore.check import runner
from torchlore.check.config import Config
from torchlore.check.engine import Rule, check_text
from torchlore.check.gate import awake
from torchlore.check.gate import words as words_of
from torchlore.check.text import Text
from torchlore.finding import Severity

WORDED = {note.slug: words for note in notes() if (find := note.part("find")) and (words := words_of(find))}


@pytest.mark.parametrize(
    ("words", "wakes"),
    [
        ((), True),
        (("backward",), True),
        (("Backward",), False),
        (("back",), False),  # a part of a word is no word
        (("step|backward",), True),
        (("backward", "step"), False),
        (("backward", "zero_grad"), True),
        (("*ZERO*",), True),
        (("*loader*",), True),
        (("*sampler*|zero_grad",), True),
        (("*sampler*",), False),
    ],
)
def test_each_entry_has_to_be_met(words, wakes):
    rule = Rule("one", lambda _: [], Severity.HINT, words)
    assert bool(awake({"one": rule}, Text("opt.zero_grad()\nloss.backward()\nfor x in trainLoader: ...\n"))) is wakes


def test_words_in_other_alphabets_are_words():
    assert awake({"one": Rule("one", lambda _: [], Severity.HINT, ("größe",))}, Text("größe = 1\n"))


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_rule_loses_a_finding_by_its_words(rules, name):
    unworded = {slug: rule._replace(words=()) for slug, rule in rules.items()}
    assert check_text(PROGRAMS[name], rules, "train.py") == check_text(PROGRAMS[name], unworded, "train.py")


@pytest.mark.parametrize("slug", WORDED)
def test_words_are_spelled_as_words(slug):
    for entry in WORDED[slug]:
        for one in entry.split("|"):
            assert one.strip("*").replace("_", "x").isalnum(), f"{entry!r} is no word"
            assert one.startswith("*") is one.endswith("*"), f"{entry!r}: write *part*"


def test_a_choice_of_rules_and_its_tables_are_made_once(rules):
    config = Config(ignore=("discarded-move",), per_file=(("old/*", ("missing-zero-grad",)),))
    mine, other = runner.chosen(rules, config, "a.py"), runner.chosen(rules, config, "old/b.py")
    assert runner.chosen(rules, config, "c.py") is mine
    assert mine.keys() - other.keys() == {"missing-zero-grad"}
    assert {one.slug for one in awake(mine, Text("x.cuda()"))} == {
        one.slug for one in awake(dict(mine), Text("x.cuda()"))
    }
