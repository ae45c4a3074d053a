"""To say "error" is earned: what a rule without a record calls an error is told as a warning, unless the user asks."""

import pytest

from torchlore.check import config, record, runner
from torchlore.check.project import Project
from torchlore.finding import Severity

DISCARDED = "import torch\n\nx = torch.zeros(2)\nx.add(1)\nprint(x)\n"
STEP_FIRST = """import torch
from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(4, 3, 2):
    optimizer.zero_grad()
    loss = net(x).mean()
    optimizer.step()
    loss.backward()
"""


def told(rules, text, settings=None):
    work = runner.Work(rules, settings or config.Config(known=frozenset(rules)), Project())
    return {one.slug: one.severity for one in runner.check_text("train.py", text, work)}


def test_a_rule_with_a_record_says_error(rules):
    assert told(rules, DISCARDED)["discarded-tensor-op"] is Severity.ERROR


def test_a_rule_that_nobody_has_met_says_warning(rules):
    assert "step-before-backward" not in record.RECORD
    assert told(rules, STEP_FIRST)["step-before-backward"] is Severity.WARNING


def test_what_the_user_asks_for_holds(rules):
    settings = config.Config(known=frozenset(rules), severity=(("step-before-backward", "error"),))
    assert told(rules, STEP_FIRST, settings)["step-before-backward"] is Severity.ERROR


def test_a_line_that_does_not_parse_is_an_error(rules):
    assert told(rules, "import torch\nx = (\n")["syntax-error"] is Severity.ERROR


@pytest.mark.parametrize(
    ("right", "read", "expected"), [(0, 0, False), (5, 5, False), (6, 6, True), (7, 8, False), (45, 48, True)]
)
def test_one_more_wrong_one_would_not_spoil_it(monkeypatch, right, read, expected):
    monkeypatch.setitem(record.RECORD, "some-rule", (right, read))
    assert record.proven("some-rule") is expected


def test_the_record_is_of_rules_there_are(rules):
    assert set(record.RECORD) <= set(rules)
    assert all(0 <= right <= read for right, read in record.RECORD.values())
