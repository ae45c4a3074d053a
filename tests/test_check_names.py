"""Names: every import form and alias ends in one full name."""

import ast

import pytest

from torchlore.check import classes, modules, scopes, tree
from torchlore.check.project import Project
from torchlore.check.source import Source
from torchlore.check.values import values

FORMS = {
    "import torch\ntorch.nn.functional.relu(x)": "torch.nn.functional.relu",
    "import torch as t\nt.nn.functional.relu(x)": "torch.nn.functional.relu",
    "import torch.nn as nn\nnn.functional.relu(x)": "torch.nn.functional.relu",
    "import torch.nn.functional as F\nF.relu(x)": "torch.nn.functional.relu",
    "from torch import nn\nnn.functional.relu(x)": "torch.nn.functional.relu",
    "from torch.nn import functional\nfunctional.relu(x)": "torch.nn.functional.relu",
    "from torch.nn.functional import relu\nrelu(x)": "torch.nn.functional.relu",
    "from torch.nn.functional import relu as r\nr(x)": "torch.nn.functional.relu",
    "from torch.nn.functional import *\nrelu(x)": "torch.nn.functional.relu",
    "import torch\nF = torch.nn.functional\nF.relu(x)": "torch.nn.functional.relu",
    "try:\n    from torch import vmap\nexcept ImportError:\n    from functorch import vmap\nvmap(f)": "torch.vmap",
    "def f():\n    import torch\n    torch.zeros(1)": "torch.zeros",
    "from torch.nn.modules.linear import Linear\nLinear(1, 2)": "torch.nn.Linear",
    "from torch.utils.data.dataloader import DataLoader\nDataLoader(d)": "torch.utils.data.DataLoader",
    "from torch.optim.adam import Adam\nAdam(p)": "torch.optim.Adam",
    "from torch.optim.lr_scheduler import StepLR\nStepLR(o, 1)": "torch.optim.lr_scheduler.StepLR",
    "from torch.autograd import no_grad\nno_grad()": "torch.no_grad",
    "import torch\ntorch.GradScaler()": "torch.amp.GradScaler",
    "import pytorch_lightning as pl\npl.LightningModule()": "lightning.pytorch.LightningModule",
    "print(1)": "print",
    "def g():\n    pass\ng()": "__main__.g",
}


@pytest.mark.parametrize("text", FORMS, ids=lambda text: text.replace("\n", "; ")[:60])
def test_every_import_form_gives_the_full_name(text):
    source = Source(text)
    call = list(source.all(ast.Call))[-1]
    assert source.name(call.func) == FORMS[text]
    assert call in list(source.calls(FORMS[text]))


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ndef f(torch):\n    torch.zeros(1)",
        "import torch\ndef f():\n    torch = make()\n    torch.zeros(1)",
        "max = 3\nmax(1)",
        "unknown(1)",
        "x().relu(1)",
    ],
)
def test_what_is_shadowed_or_unknown_has_no_name(text):
    source = Source(text)
    assert source.name(next(source.all(ast.Call)).func) == ""


def test_a_relative_import_is_found_in_its_package(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from .net import Net\n")
    (tmp_path / "pkg" / "net.py").write_text("from torch import nn\nclass Net(nn.Module):\n    pass\n")
    user = tmp_path / "pkg" / "train.py"
    user.write_text("from . import Net\nfrom .net import Net as Again\nmodel = Net()\n")
    project = Project()
    project.add([str(user)])
    source = project.source(str(user))
    call = next(source.all(ast.Call))
    assert project.resolve(source, call.func).node.name == "Net"
    assert [value.kind for value in source.values(call)] == ["module"]


def uses(text, name="x"):
    source = Source(text)
    found = [node for node in source.all(ast.Name) if node.id == name and isinstance(node.ctx, ast.Load)]
    bindings = scopes.reaching(source, found[-1])
    return sorted(one.statement.lineno for one in bindings)


def test_the_last_binding_hides_the_others():
    assert uses("x = 1\nx = 2\nprint(x)") == [2]


def test_a_branch_may_or_may_not_bind():
    assert uses("x = 1\nif c:\n    x = 2\nprint(x)") == [1, 3]
    assert uses("if c:\n    x = 2\nelse:\n    x = 3\nprint(x)") == [2, 4]
    assert uses("x = 0\nif c:\n    x = 2\nelse:\n    x = 3\nprint(x)") == [3, 5]
    assert uses("x = 1\nif c:\n    x = 2\n    raise E\nprint(x)") == [1]
    assert uses("if c:\n    x = 1\nelse:\n    print(x)") == []


def test_a_loop_brings_its_last_value_back():
    assert uses("x = 1\nfor i in a:\n    print(x)\n    x = 2") == [1, 4]
    assert uses("for i in a:\n    x = 1\n    print(x)\n    x = 2") == [2]
    assert uses("for x in a:\n    print(x)") == [1]
    assert uses("x = 1\nwhile c:\n    x = f(x)") == [1, 3]


def test_functions_comprehensions_and_globals_have_scopes_of_their_own():
    assert uses("x = 1\ndef f():\n    x = 2\n    print(x)") == [3]
    assert uses("x = 1\ndef f():\n    print(x)") == [1]
    assert uses("x = 1\n[x for x in a]") == [2]
    assert uses("def f():\n    global x\n    x = 2\nprint(x)") == [3]
    assert uses("def f(x):\n    print(x)") == [1]
    assert uses("with open(f) as x:\n    print(x)") == [1]


def test_arguments_are_absent_only_if_nothing_is_spread():
    def call(text):
        return ast.parse(text, mode="eval").body

    assert tree.lacks(call("f(1)"), 1, "b")
    assert not tree.lacks(call("f(1, 2)"), 1, "b")
    assert not tree.lacks(call("f(1, b=2)"), 1, "b")
    assert not tree.lacks(call("f(*a)"), 1, "b")
    assert not tree.lacks(call("f(**k)"), 1, "b")
    assert tree.literal(call("-(1e-3)")) == -0.001
    assert tree.literal(call("(1, -2)")) == (1, -2)
    assert tree.literal(call("x")) is tree.UNKNOWN


def test_a_class_that_is_defined_again_is_another_one():
    """A notebook writes its network a second time; what was made before is still the first."""
    both = "class Net(nn.Module):\n    def __init__(self):\n        self.layer = nn.{}(2)\n\n\nmodel = Net()\nmodel\n"
    source = Source("from torch import nn\n" + both.format("ReLU") + both.format("Dropout"))
    found = [values(source, node.value)[0] for node in source.all(ast.Expr)]
    assert [classes.class_behind(source, one).node.lineno for one in found] == [2, 9]
    assert [modules.mode_layers(source, one) for one in found] == [False, True]
