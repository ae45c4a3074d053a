"""Flow: what happens in which order, on which object, through calls and files."""

import ast

from torchlore.check import flow, frameworks
from torchlore.check.identity import identity
from torchlore.check.project import Project
from torchlore.check.source import Source

HEAD = "import torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n"


def kinds(
    text, what=("forward", "loss", "zero_grad", "backward", "clip", "unscale", "step", "schedule", "train", "eval")
):
    source = Source(HEAD + text)
    return [[event.what for event in loop.of(*what)] for loop in flow.loops(source)]


def test_events_come_in_order_of_execution():
    text = """
net, loss_fn = nn.Linear(2, 2), nn.MSELoss()
opt = optim.SGD(net.parameters(), 0.1)
sched = optim.lr_scheduler.StepLR(opt, 1)
for x, y in data:
    opt.zero_grad()
    loss_fn(net(x), y).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    sched.step()
"""
    assert kinds(text) == [["zero_grad", "forward", "loss", "backward", "clip", "step", "schedule"]]


def test_helpers_methods_and_closures_are_looked_through():
    text = """
class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = optim.SGD(net.parameters(), 0.1)
    def step(self, x):
        self.opt.zero_grad()
        self.net(x).mean().backward()
        self.opt.step()
trainer = Trainer(nn.Linear(2, 2))
for x in data:
    trainer.step(x)
lbfgs = optim.LBFGS(trainer.net.parameters())
def closure():
    lbfgs.zero_grad()
    loss = trainer.net(x).mean()
    loss.backward()
    return loss
for x in data:
    lbfgs.step(closure)
"""
    assert kinds(text) == [["zero_grad", "forward", "backward", "step"]] * 2


def test_scaler_steps_and_modes():
    text = """
scaler = torch.amp.GradScaler()
net = nn.Linear(1, 1)
opt = optim.SGD(net.parameters(), 0.1)
for x in data:
    net.train()
    scaler.scale(net(x).mean()).backward()
    scaler.unscale_(opt)
    scaler.step(opt)
    scaler.update()
    net.train(False)
    env.step(1)
"""
    source = Source(HEAD + text)
    loop = flow.loops(source)[0]
    assert [e.what for e in loop.events] == ["train", "forward", "backward", "unscale", "step", "update", "eval"]
    assert loop.of("backward")[0].detail == loop.of("step")[0].detail == "scaler"
    assert loop.of("unscale")[0].owner == loop.of("step")[0].owner


def test_one_object_has_one_identity():
    text = """
class T:
    def __init__(self, model):
        self.model = model
    def fit(self):
        m = self.model
        m.train()
        return validate(self.model)
def validate(net):
    net.eval()
net = nn.DataParallel(nn.Linear(1, 1).cuda())
t = T(net)
t.fit()
t.model.train()
net.module.eval()
"""
    source = Source(HEAD + text)
    owners = {event.owner for event in flow.events_of(source, None) if event.what in ("train", "eval")}
    assert len(owners) == 1


def test_different_objects_are_told_apart():
    source = Source(HEAD + "a, b = nn.Linear(1, 1), nn.Linear(1, 1)\nc = a\na.eval()\nb.eval()\nc.eval()\n")
    one, two, three = (event.owner for event in flow.events_of(source, None) if event.what == "eval")
    assert one == three != two


def test_a_helper_called_with_two_models_speaks_of_both():
    text = "def off(m):\n    m.eval()\na, b = nn.Linear(1, 1), nn.Linear(1, 1)\noff(a)\noff(b)\na.eval()\n"
    source = Source(HEAD + text)
    owners = [event.owner for event in flow.events_of(source, None) if event.what == "eval"]
    assert owners[0] == owners[2] != owners[1]


def test_places_conditions_and_contexts():
    text = """
@torch.no_grad()
def val(net, data):
    for x in data:
        net(x)
for epoch in range(3):
    for i, x in enumerate(data):
        if (i + 1) % 4 == 0:
            opt.step()
    val(net, data)
"""
    source = Source(HEAD + text)
    outer = next(
        loop for loop in flow.loops(source) if isinstance(loop.node.iter, ast.Call) and loop.node.col_offset == 0
    )
    step, forward = outer.of("step")[0], outer.of("forward")[0]
    assert len(step.loops) == 2
    assert source.code(step.conditions[0][0]) == "(i + 1) % 4 == 0"
    assert step.conditions[0][1] is True
    assert forward.no_grad
    assert forward.at.lineno == outer.node.end_lineno
    assert [function.node.name for function in forward.via] == ["val"]
    assert not outer.direct("forward")


def test_recursion_and_many_calls_end():
    text = "def f(n):\n    g(n)\n    loss.backward()\ndef g(n):\n    f(n)\nfor i in x:\n    f(i)\n"
    assert kinds(text) == [["backward"]]
    wide = "def a0():\n    loss.backward()\n" + "".join(f"def a{i + 1}():\n" + f"    a{i}()\n" * 20 for i in range(6))
    assert len(flow.events_of(Source(wide + "a6()\n"), None)) <= 1500


def test_another_file_is_looked_through(tmp_path):
    (tmp_path / "steps.py").write_text(
        "def one(model, opt, x):\n    opt.zero_grad()\n    model(x).mean().backward()\n    opt.step()\n"
    )
    main = tmp_path / "main.py"
    main.write_text(HEAD + "from steps import one\nnet = nn.Linear(1, 1)\nfor x in data:\n    one(net, optimizer, x)\n")
    project = Project()
    project.begin(str(main))
    project.add([str(main), str(tmp_path / "steps.py")])
    source = project.source(str(main))
    events = flow.loops(source)[0].events
    assert [event.what for event in events] == ["zero_grad", "forward", "backward", "step"]
    assert events[1].owner == identity(source, next(n for n in source.all(ast.Name) if n.id == "net"))


def test_a_chain_of_moves_is_the_same_model_in_a_helper_too():
    text = HEAD + (
        "def run(net, x):\n    return net(x)\n\n"
        "def check(net):\n    net = net.cuda().eval()\n    run(net, 1)\n\n"
        "model = nn.Linear(1, 1)\nfor x in data:\n    model(x).mean().backward()\n    check(model)\n"
    )
    events = flow.loops(Source(text))[0].of("forward", "eval")
    assert [event.what for event in events] == ["forward", "eval", "forward"]
    assert len({event.owner for event in events}) == 1


def test_frameworks_own_their_loops():
    text = "import pytorch_lightning as pl\nclass M(pl.LightningModule):\n    def training_step(self):\n        pass\n"
    source = Source(text)
    assert frameworks.frameworks(source) == {"lightning"}
    assert frameworks.owned(source, next(source.all(ast.Pass)))
    assert not frameworks.owned(Source("import torch\npass"), Source("pass").tree.body[0])


def test_a_program_begins_in_its_functions_and_under_its_main_guard():
    text = """
def train(net, data):
    net.train()
    for x in data:
        net(x).mean().backward()
def main():
    net = nn.Linear(2, 2)
    net.requires_grad_(False)
if __name__ == "__main__":
    main()
"""
    source = Source(HEAD + text)
    begun = {node.name if node else "": events for node, events in flow.entries(source)}
    assert list(begun) == ["", "train"]  # `net.train()` calls no function `train`
    assert [event.conditions for event in begun[""] if event.what == "freeze"] == [()]
