"""Usual mistakes, planted in the text of a training script: what bench/check_planted.py makes and looks for."""

import ast
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

Edit = tuple[int, int, str]  # from, to, what stands there then
_NUMBERS = re.compile(r"mse|l1_loss|bce|binary_cross|criterion|loss_f", re.IGNORECASE)


class Text:
    """A file, its tree and the places of its nodes."""

    def __init__(self, text: str) -> None:
        self.text, self.tree = text, ast.parse(text)
        self.starts = [0]
        for line in text.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.nodes = list(ast.walk(self.tree))
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends."""
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def code(self, node: ast.AST) -> str:
        """The text of a node."""
        if node is self.tree:
            return self.text
        start, end = self.span(node)
        return self.text[start:end]

    def replaced(self, node: ast.AST, new: str) -> Edit:
        """Another text in the place of a node."""
        return (*self.span(node), new)

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Calls whose function ends in one of these names."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and tail(node.func) in names:
                yield node

    def statements(self, *names: str) -> Iterator[ast.Expr]:
        """Calls of these names that stand alone."""
        for call in self.calls(*names):
            if isinstance(up := self.parents[call], ast.Expr) and isinstance(call.func, ast.Attribute | ast.Name):
                yield up

    def blocks(self) -> Iterator[list[ast.stmt]]:
        """The lists of statements."""
        for node in self.nodes:
            for field in ("body", "orelse"):
                if isinstance(block := getattr(node, field, None), list):
                    yield block

    def function(self, node: ast.AST) -> ast.AST:
        """The function a node stands in, or the file."""
        while node in self.parents and not isinstance(node, ast.FunctionDef):
            node = self.parents[node]
        return node

    def swapped(self, one: ast.stmt, other: ast.stmt) -> list[Edit]:
        """Two statements in each other's places."""
        return [self.replaced(one, self.code(other)), self.replaced(other, self.code(one))]


class Plant(NamedTuple):
    """A mistake: the line it stands in, and the edits that make it."""

    line: int
    edits: list[Edit]


def tail(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def called(statement: ast.stmt) -> str:
    """`step` of a statement `optimizer.step()`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return tail(call.func) if isinstance(call, ast.Call) else ""


def owner(text: Text, statement: ast.Expr) -> str:
    call = statement.value
    return text.code(call.func.value) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""


def dropped(name: str, *beside: str) -> Callable[[Text], Iterator[Plant]]:
    """Every call of a method of one object gone, in files where nothing else has that method."""

    def plants(text: Text) -> Iterator[Plant]:
        owners = defaultdict(list)
        for statement in text.statements(name):
            owners[owner(text, statement)].append(statement)
        if all(word in text.text for word in ("backward(", *beside)) and len(owners) == 1:
            found = next(iter(owners.values()))
            yield Plant(found[0].lineno, [text.replaced(one, "pass") for one in found])

    return plants


def no_grad_dropped(text: Text) -> Iterator[Plant]:
    """`with torch.no_grad():` around a loop is gone."""
    for node in text.nodes:
        loops = isinstance(node, ast.With) and any(isinstance(one, ast.For) for one in node.body)
        if loops and len(node.items) == 1 and "no_grad()" in text.code(node.items[0].context_expr):
            end = text.span(node.items[0].context_expr)[1]
            yield Plant(node.lineno, [(text.span(node)[0], end, "if True")])


def item_dropped(text: Text) -> Iterator[Plant]:
    """`total += loss.item()` without `.item()`, where the same function runs the backward pass of that loss."""
    for call in text.calls("item"):
        up, value = text.parents[call], call.func.value
        home = text.code(text.function(call))
        added = isinstance(up, ast.AugAssign) and isinstance(up.op, ast.Add)
        kept = isinstance(up, ast.Call) and tail(up.func) == "append"
        if (added or kept) and isinstance(value, ast.Name) and f"{value.id}.backward(" in home:
            yield Plant(call.lineno, [text.replaced(call, text.code(value))])


def keyword_dropped(word: str, *names: str, value: str = "", line: str = "") -> Callable[[Text], Iterator[Plant]]:
    def plants(text: Text) -> Iterator[Plant]:
        for call in text.calls(*names):
            for keyword in call.keywords:
                if (
                    keyword.arg == word
                    and value in text.code(keyword.value)
                    and re.search(line, text.text.split("\n")[call.lineno - 1])
                ):
                    start, end = text.span(keyword)
                    before = text.text[:start].rstrip()
                    if before.endswith(","):
                        yield Plant(call.lineno, [(len(before) - 1, end, "")])

    return plants


def list_for_modulelist(text: Text) -> Iterator[Plant]:
    for call in text.calls("ModuleList"):
        if isinstance(text.parents[call], ast.Assign) and "self." in text.code(text.parents[call].targets[0]):
            given = call.args[0] if call.args else None
            plain = given is None or isinstance(given, ast.List | ast.ListComp | ast.Name)
            new = (text.code(given) if given is not None else "[]") if plain else f"list({text.code(given)})"
            if "add_module" not in text.text:
                yield Plant(call.lineno, [text.replaced(call, new)])


def exchanged(first: tuple[str, ...], second: tuple[str, ...]) -> Callable[[Text], Iterator[Plant]]:
    """Two neighbours in a block exchange their places."""

    def plants(text: Text) -> Iterator[Plant]:
        for block in text.blocks():
            for one, other in itertools.pairwise(block):
                if called(one) in first and called(other) in second:
                    yield Plant(other.lineno, text.swapped(one, other))

    return plants


def zeroed_between(text: Text) -> Iterator[Plant]:
    """zero_grad, backward, step becomes backward, zero_grad, step."""
    for block in text.blocks():
        for one, two, three in zip(block, block[1:], block[2:], strict=False):
            if [called(part) for part in (one, two, three)] == ["zero_grad", "backward", "step"]:
                yield Plant(two.lineno, text.swapped(one, two))


def deepcopy_dropped(text: Text) -> Iterator[Plant]:
    for call in text.calls("deepcopy"):
        if len(call.args) == 1 and "state_dict()" in text.code(call.args[0]):
            yield Plant(call.lineno, [text.replaced(call, text.code(call.args[0]))])


def move_dropped(text: Text) -> Iterator[Plant]:
    """`x = x.to(device)` becomes `x.to(device)` for what no one calls."""
    for node in text.nodes:
        made = node.value if isinstance(node, ast.Assign) else None
        if (
            not isinstance(made, ast.Call)
            or tail(made.func) not in ("to", "cuda")
            or not isinstance(made.func, ast.Attribute)
        ):
            continue
        name = text.code(made.func.value)
        own = isinstance(node.targets[0], ast.Name) and node.targets[0].id == name
        net = own and re.search(rf"\b{name}(\(|\.train|\.eval|\.param|\.module|\.load|\.gen)", text.text)
        if own and not net and "backward" in text.code(text.function(node)):
            yield Plant(node.lineno, [text.replaced(node, text.code(made))])


def batches_for_samples(text: Text) -> Iterator[Plant]:
    for node in text.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            code = text.code(node.right)
            if re.fullmatch(r"len\([\w.]+\.dataset\)", code) and "correct" in text.code(node.left):
                yield Plant(node.lineno, [text.replaced(node.right, code.replace(".dataset", ""))])


def softmax_added(text: Text) -> Iterator[Plant]:
    """The forward pass of a class ends in a softmax, and the file has a cross-entropy."""
    if not re.search(r"CrossEntropyLoss\(|cross_entropy\(", text.text):
        return
    for node in text.nodes:
        inner = list(ast.walk(node)) if isinstance(node, ast.FunctionDef) and node.name == "forward" else []
        given = [one.value for one in inner if isinstance(one, ast.Return)]
        last = "".join(text.code(node).split("\n")[-2:]) if inner else ""
        plain = len(given) == 1 and isinstance(given[0], ast.Call | ast.Name)
        if plain and re.search(r"(fc|linear|head|classif|out)\w*\(", last, re.IGNORECASE):
            yield Plant(given[0].lineno, [text.replaced(given[0], f"{text.code(given[0])}.softmax(dim=1)")])


def renamed(old: str, new: str) -> Callable[[Text], Iterator[Plant]]:
    def plants(text: Text) -> Iterator[Plant]:
        for call in text.calls(old):
            name = text.code(call.func)
            yield Plant(call.lineno, [text.replaced(call.func, name[: -len(old)] + new)])

    return plants


def schedule_each_batch(text: Text) -> Iterator[Plant]:
    """The scheduler's step moves to the end of the batch loop before it."""
    if not re.search(r"\b(StepLR|MultiStepLR|ExponentialLR)\(", text.text):
        return
    for block in text.blocks():
        for place, statement in enumerate(block):
            loops = [one for one in block[:place] if isinstance(one, ast.For) and "backward(" in text.code(one)]
            if called(statement) == "step" and "sched" in text.code(statement) and loops:
                last = loops[-1].body[-1]
                indent = " " * last.col_offset
                end = text.span(last)[1]
                yield Plant(
                    last.end_lineno + 1,
                    [(end, end, f"\n{indent}{text.code(statement)}"), text.replaced(statement, "pass")],
                )


def squeeze_dropped(text: Text) -> Iterator[Plant]:
    """`mse(net(x).squeeze(), y)` without the squeeze."""
    for call in text.calls("squeeze"):
        up = text.parents[call]
        first = isinstance(up, ast.Call) and bool(up.args) and up.args[0] is call
        if first and isinstance(call.func, ast.Attribute) and _NUMBERS.search(text.code(up.func)):
            yield Plant(call.lineno, [text.replaced(call, text.code(call.func.value))])


def along_the_batch(text: Text) -> Iterator[Plant]:
    """The prediction is the largest along the batch."""
    for call in text.calls("argmax", "max"):
        args = [*call.args, *(word.value for word in call.keywords if word.arg == "dim")]
        if (
            args
            and isinstance(args[-1], ast.Constant)
            and args[-1].value == 1
            and "backward" in text.text
            and len(args) < 3
        ):
            yield Plant(call.lineno, [text.replaced(args[-1], "0")])


def log_dropped(text: Text) -> Iterator[Plant]:
    if re.search(r"kl_div\(|KLDivLoss\(|nll_loss\(|NLLLoss\(", text.text):
        for call in text.calls("log_softmax"):
            name = text.code(call.func)
            yield Plant(call.lineno, [text.replaced(call.func, name.replace("log_softmax", "softmax"))])


def heads_by_view(text: Text) -> Iterator[Plant]:
    """`x.view(b, n, h, d).transpose(1, 2)` becomes `x.view(b, h, n, d)`."""
    for call in text.calls("transpose"):
        inner = call.func.value if isinstance(call.func, ast.Attribute) else None
        turned = [text.code(arg) for arg in call.args] == ["1", "2"]
        if turned and isinstance(inner, ast.Call) and tail(inner.func) in ("view", "reshape") and len(inner.args) == 4:
            one, two, three, four = (text.code(arg) for arg in inner.args)
            new = f"{text.code(inner.func)}({one}, {three}, {two}, {four})"
            yield Plant(call.lineno, [text.replaced(call, new)])


def target_attached(text: Text) -> Iterator[Plant]:
    """The bootstrapped target keeps its graph."""
    for call in text.calls("detach"):
        if (
            isinstance(call.func, ast.Attribute)
            and re.search(r"target\w*\(|next_q|next_v", text.code(call))
            and "backward" in text.text
        ):
            yield Plant(call.lineno, [text.replaced(call, text.code(call.func.value))])


def item_of_a_meter(text: Text) -> Iterator[Plant]:
    """`losses.update(loss.item(), n)` without `.item()`."""
    for call in text.calls("item"):
        up, value = text.parents[call], call.func.value
        kept = isinstance(up, ast.Call) and tail(up.func) in ("update", "add") and isinstance(value, ast.Name)
        if kept and f"{value.id}.backward(" in text.code(text.function(call)):
            yield Plant(call.lineno, [text.replaced(call, text.code(value))])


def not_divided(text: Text) -> Iterator[Plant]:
    """`loss = loss / accumulation_steps` is gone."""
    for node in text.nodes:
        value = node.value if isinstance(node, ast.Assign) else None
        divided = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)
        if divided and re.search(r"loss\w* / .*(accum|grad_acc)", text.code(value)):
            yield Plant(node.lineno, [text.replaced(value, text.code(value.left))])


def sum_not_reset(text: Text) -> Iterator[Plant]:
    """`running_loss = 0.0` moves from the epoch's loop before it."""
    for block in text.blocks():
        for loop in block:
            inner = loop.body if isinstance(loop, ast.For) and "epoch" in text.code(loop.target) else []
            for one in inner:
                zero = (
                    isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant) and one.value.value in (0, 0.0)
                )
                if (
                    zero
                    and re.search(r"loss|correct|total", text.code(one.targets[0]))
                    and f"{text.code(one.targets[0])} +=" in text.code(loop)
                ):
                    start = text.span(loop)[0]
                    indent = " " * loop.col_offset
                    yield Plant(one.lineno, [(start, start, f"{text.code(one)}\n{indent}"), text.replaced(one, "pass")])


def attention_over_queries(text: Text) -> Iterator[Plant]:
    """The softmax of attention scores goes along the queries."""
    for call in text.calls("softmax"):
        args = [*call.args, *(word.value for word in call.keywords if word.arg == "dim")]
        if (
            args
            and text.code(args[-1]) == "-1"
            and re.search(r"attn|score|attention|energy", text.text.split("\n")[call.lineno - 1])
        ):
            yield Plant(call.lineno, [text.replaced(args[-1], "-2")])


KINDS: dict[str, Callable[[Text], Iterator[Plant]]] = {
    "zero_grad gone": dropped("zero_grad"),
    "eval() gone": dropped("eval", ".train()"),
    "train() gone": dropped("train", ".eval()"),
    "step() gone": dropped("step", "zero_grad()"),
    "set_epoch() gone": dropped("set_epoch"),
    "no_grad gone": no_grad_dropped,
    "item() gone": item_dropped,
    "item() gone, meter": item_of_a_meter,
    "not divided": not_divided,
    "sum not reset": sum_not_reset,
    "softmax over queries": attention_over_queries,
    "training flag gone": keyword_dropped("training", "dropout", value="self.training"),
    "dim gone": keyword_dropped("dim", "squeeze", "softmax", "log_softmax"),
    "padding_idx gone": keyword_dropped("padding_idx", "Embedding"),
    "shuffle gone": keyword_dropped("shuffle", "DataLoader", value="True", line="(?i)train"),
    "batch_first gone": keyword_dropped("batch_first", "LSTM", "GRU", "RNN", "TransformerEncoderLayer", "MultiheadAttention", value="True"),
    "ignore_index gone": keyword_dropped("ignore_index", "CrossEntropyLoss", "cross_entropy", "NLLLoss"),
    "list for ModuleList": list_for_modulelist,
    "clip after step": exchanged(("clip_grad_norm_", "clip_grad_value_"), ("step",)),
    "step before backward": exchanged(("backward",), ("step",)),
    "zeroed before step": zeroed_between,
    "state not copied": deepcopy_dropped,
    "moved and thrown away": move_dropped,
    "batches for samples": batches_for_samples,
    "softmax in the net": softmax_added,
    "BCELoss on logits": renamed("BCEWithLogitsLoss", "BCELoss"),
    "NLLLoss on logits": renamed("CrossEntropyLoss", "NLLLoss"),
    "scheduler each batch": schedule_each_batch,
    "squeeze gone": squeeze_dropped,
    "argmax along the batch": along_the_batch,
    "log gone": log_dropped,
    "heads by view": heads_by_view,
    "target attached": target_attached,
}  # fmt: skip
