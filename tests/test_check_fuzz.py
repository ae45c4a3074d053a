"""No file stops `lore check`: torch's own package, the standard library, and ten thousand broken and odd programs."""

import ast
import copy
import gc
import random
import sysconfig
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

from torchlore.catalogue import NOTES
from torchlore.check import config, fixes, runner
from torchlore.check.project import Project
from torchlore.finding import Finding

SECONDS = 2.0  # for one file, of processor time
SHARDS, EACH = 20, 500
SEEDS = [path.read_text(encoding="utf-8") for path in sorted(NOTES.glob("*/*/*.py")) if path.stem != "note"]
ODD = ["\0", "\ufeff", "\x0c", "\r", "\t", "\\\n", '"""', "'", "(", "]", "{", ":", "lambda *a, **k: (yield)", "match x:\n case _: pass",
       "\u202e", "é = ", "async ", "await ", "del ", "global x\n", "class C(C): pass\n", "*", "**", "@", ":=", "f'{x!r:>{y}}'",
       "x" * 300, "9" * 400, "#", "# lore: ignore[", "# noqa: TL", "torch.", ".to(", ".backward()", "import torch as torch.x\n"]  # fmt: skip


def trouble(work, path, text, limit=SECONDS):
    """What went wrong with one text: a rule that raised, or more time than it may take."""
    work.project.begin(path)
    begun = time.process_time()
    said = runner.check_text(path, text, work)
    took = time.process_time() - begun
    work.project.trim(3_000_000)
    wrong = [str(one) for one in said if not isinstance(one, Finding)]
    return wrong + ([f"{path}: took {took:.1f} s"] if took > limit else [])


def over(files, rules):
    """What went wrong in these files, all rules on every one of them whether it speaks of torch or not."""
    project = Project()
    project.add(str(path) for path in files)
    work = runner.Work(rules, config.Config(), project)
    wrong = []
    gc.disable()
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        # a busy machine counts other people's time as ours: what was slow is asked again
        if found := trouble(work, str(path), text):
            again = trouble(runner.Work(rules, config.Config(), Project()), str(path), text)
            wrong += again if "took" in found[-1] else found
    gc.enable()
    return wrong


def python_files(top):
    return sorted(path for path in top.rglob("*.py") if path.is_file() and path.stat().st_size < 3_000_000)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_the_standard_library(rules, part):
    home = Path(sysconfig.get_path("stdlib"))
    files = [path for path in python_files(home) if "site-packages" not in path.parts][part::4]
    assert len(files) > 200
    assert over(files, rules) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_torch_itself(rules, part):
    home = Path(find_spec("torch").origin).parent
    files = python_files(home)[part::4]
    assert len(files) > 200
    assert over(files, rules) == []


def by_text(chance, text):
    """Lines and characters cut out, doubled, swapped and put in: mostly no Python any more."""
    lines = text.splitlines(keepends=True)
    for _ in range(chance.randint(1, 4)):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        what = chance.randrange(6)
        if what == 0:
            lines[at], lines[other] = lines[other], lines[at]
        elif what == 1:
            lines[at] = chance.choice(["", "    ", "\t"]) + lines[at].lstrip()
        elif what == 2:
            lines.insert(at, lines[other])
        elif what == 3:
            cut = chance.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + chance.choice(ODD) + lines[at][cut:]
        elif what == 4:
            lines[at] = chance.choice(SEEDS).splitlines(keepends=True)[-1]
        else:
            lines = lines[: at + 1] or lines
    return "".join(lines)


def by_tree(chance, text):
    """Expressions and statements moved between two programs: always Python, seldom sense."""
    tree, other = ast.parse(text), ast.parse(chance.choice(SEEDS))
    donors = [node for node in ast.walk(other) if isinstance(node, ast.expr)]
    blocks = [node for node in ast.walk(other) if isinstance(node, ast.stmt)]
    places = [(node, field, value) for node in ast.walk(tree) for field, value in ast.iter_fields(node)]
    for node, field, value in chance.sample(places, min(len(places), chance.randint(1, 8))):
        if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", None), ast.Store | ast.Del):
            setattr(node, field, copy.deepcopy(chance.choice(donors)))
        elif field in ("body", "orelse") and isinstance(value, list) and value:
            value.insert(chance.randrange(len(value) + 1), copy.deepcopy(chance.choice(blocks)))
        elif isinstance(value, list) and len(value) > 1:
            chance.shuffle(value)
        elif field in ("id", "attr", "arg", "name") and isinstance(value, str):
            setattr(node, field, chance.choice(["self", "x", "model", "torch", "loss", "step", "_", "optimizer"]))
    return ast.unparse(ast.fix_missing_locations(tree))


class Circles(ast.NodeTransformer):
    """Everything in endless loops, each name bound now and then to its value, and to a twin that is bound to it."""

    def __init__(self, *, bare):
        self.bare = bare  # only to its twin

    def visit_Assign(self, node):
        name = node.targets[0]
        if len(node.targets) > 1 or not isinstance(name, ast.Name):
            return node
        twin = f"{name.id}_"
        round_ = ast.parse(f"{name.id} = {twin}\n{twin} = {name.id}").body
        return round_ if self.bare else [ast.If(ast.Name("now", ast.Load()), [one], []) for one in (node, *round_)]

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.body = [ast.While(ast.Constant(value=True), node.body, [])]
        return node

    def visit_Module(self, node):
        self.generic_visit(node)
        return ast.Module([ast.While(ast.Constant(value=True), node.body, [])], [])


def in_circles(text, *, bare):
    """The program, made so that whoever follows a name back to its value comes round again."""
    return ast.unparse(ast.fix_missing_locations(Circles(bare=bare).visit(ast.parse(text))))


def mutant(number):
    """The program with this number; the same in every run."""
    chance = random.Random(number)
    text = chance.choice(SEEDS)
    if number % 2:
        return by_text(chance, text)
    try:
        return by_tree(chance, text)
    except (ValueError, TypeError, AttributeError, RecursionError, SyntaxError):  # what no longer is a tree
        return by_text(chance, text)


def fix_holds(rules, text):
    """Whether what --fix writes parses, and a second run changes nothing."""
    work = runner.Work(rules, config.Config(), Project())

    def check(one):
        return [found for found in runner.check_text("m.py", one, work) if isinstance(found, Finding)]

    fixed, count = fixes.fix(text, check, unsafe=True)
    return not count or (fixes.parses(fixed) and fixes.fix(fixed, check, unsafe=True)[0] == fixed)


def hunt(rules, numbers):
    wrong = []
    for number in numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = mutant(number)
        found = trouble(runner.Work(rules, config.Config(), Project()), "m.py", text)
        if number % 10 == 0 and not found and not fix_holds(rules, text):
            found = ["the fixed text is broken, or a second run changes it"]
        wrong += [f"mutant({number}): {one}" for one in found]
    return wrong


@pytest.mark.parametrize("bare", [True, False])
def test_circles_end(rules, bare):
    wrong = []
    for number, text in enumerate(SEEDS):
        found = trouble(runner.Work(rules, config.Config(), Project()), "m.py", in_circles(text, bare=bare))
        wrong += [f"SEEDS[{number}]: {one}" for one in found]
    assert wrong == []


KNOT = """
import torch
from torch import nn
from torch.nn import functional as F

G, D, E = nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 1), nn.Sigmoid()), nn.Linear(8, 8)
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())

def train(loader, loss):
    LINES = torch.zeros(1)
    for x in loader:
        BODY
        cost = F.binary_cross_entropy(D(n0), n1) + loss(n2) + loss(n3)
        cost.backward()
        opt_d.step()
        cost = loss(D(G(n4))) + loss(n5) + loss(n6)
        cost.backward()
        opt_g.step()
"""


def test_names_that_feed_each_other_end(rules):
    names = [f"n{i}" for i in range(8)]
    lines = [f"n{i} = G(n{i - 1}) + E(n{i - 2}) * D(n{i - 3}).mean() + n{i - 4} - n{i}" for i in range(4, 8)]
    lines += [f"n{i} = E(n{7 - i}) + G(n{i + 1}) * torch.where(x, n{i + 2}, n{i + 3})" for i in range(4)]
    text = KNOT.replace("LINES", " = ".join(names)).replace("BODY", "\n        ".join(lines))
    assert trouble(runner.Work(rules, config.Config(), Project()), "m.py", text) == []


NESTED = """
import torch
from torch import nn

class Net(nn.Module):
    class Base(nn.Module):
        pass

class Net(Net.Base):
    def forward(self, x):
        return x

net = Net()
net.eval()
"""


def test_a_class_made_from_a_part_of_its_namesake_ends(rules):
    assert trouble(runner.Work(rules, config.Config(), Project()), "m.py", NESTED) == []


HUGE = """
import torch
from torch import nn

x = torch.zeros(90000000000000000000, 3)
y = torch.zeros(8, 3)
nn.functional.mse_loss(x[::2], x[1:].sum(1))
nn.functional.mse_loss(y[::0], y[3:1].sum(1))
nn.functional.mse_loss(nn.Linear(3, 1)(x[:-1]), x[:-1, 0])
"""


def test_sizes_beyond_any_machine_are_only_numbers(rules):
    assert trouble(runner.Work(rules, config.Config(), Project()), "m.py", HUGE) == []


def test_a_few_mutants(rules):
    assert hunt(rules, range(120)) == []


@pytest.mark.long
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_thousand_mutants(rules, shard):
    assert hunt(rules, range(shard * EACH, (shard + 1) * EACH)) == []
