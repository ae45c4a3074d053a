"""The rule of focal-on-batch-mean."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, grouped, losses, scopes, tree, values
from torchlore.check.source import Hit, Source

_NAMES = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss", "BCEWithLogitsLoss", "BCELoss",
          "binary_cross_entropy", "binary_cross_entropy_with_logits")  # fmt: skip
_OF_CLASSES = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")
WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    calls = {id(one.call): one for one in losses.loss_calls(source, *_NAMES)}
    for exp in (*source.calls("torch.exp"), *source.methods("exp")) if calls else ():
        power = exp.args[0] if source.name(exp.func) and exp.args else tree.receiver(exp)
        loss = calls.get(id(_negated(source, power)))
        if loss is None or not _weighs(source, exp):
            continue
        if not _reduced(loss):
            if (code := _class_weights(source, loss)) and loss.name.rpartition(".")[2] in _OF_CLASSES:
                told = f"with the class weights `{code}` in the loss, this is p to the power of the weight: compute p without them"
                yield source.hit(exp, told, severity="warning")
            continue
        holder = loss.call if loss.made is None else loss.made.node
        fix = []
        if isinstance(holder, ast.Call) and (loss.made is None or loss.made.source is source):
            fix = [edits.set_keyword(source, holder, "reduction", '"none"')]
        yield source.hit(loss.call, 'one focal weight for the whole batch: give this loss `reduction="none"`', *fix)
    yield from _loss_for_probability(source, calls)


def _negated(source: Source, node: ast.expr) -> ast.expr | None:
    """What stands behind one minus sign, through names: `ce` of `-ce`, or of `logpt = -ce`."""
    minus = False
    for _ in range(4):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node, minus = node.operand, not minus
        elif isinstance(node, ast.Name):
            bindings = scopes.reaching(source, node)
            if len(bindings) != 1 or bindings[0].how != "assign" or bindings[0].value is None:
                return None
            node = bindings[0].value
    return node if minus else None


def _reduced(loss: losses.LossCall) -> bool:
    """Whether the loss is one number for the batch, for sure."""
    holder = loss.call if loss.made is None else loss.made.node
    if not isinstance(holder, ast.Call) or tree.spread(holder) or tree.keyword(holder, "reduce"):
        return False
    given = loss.option("reduction")
    return given is None or tree.literal(given) in ("mean", "sum")


def _class_weights(source: Source, loss: losses.LossCall) -> str:
    """The weights a loss is surely given, "" where they may be None."""
    given = loss.option("weight")
    home = loss.made.source if loss.made is not None else source
    known = given is not None and home is not None and "tensor" in values.kind(home, given)
    return home.code(given) if known and home is not None and given is not None else ""


def _weighs(source: Source, exp: ast.Call) -> bool:
    """Whether `1 - exp(-ce)` is raised to a power somewhere in the same function."""
    home = tree.function(source, exp)
    powers = [one for one in grouped.operations(source, ast.Pow) if tree.function(source, one) is home]
    rest = [one.left for one in powers if isinstance(one.left, ast.BinOp) and isinstance(one.left.op, ast.Sub)]
    return any(tree.literal(one.left) == 1 for one in rest)


def _loss_for_probability(source: Source, calls: dict[int, losses.LossCall]) -> Iterator[Hit]:
    """`(1 - ce) ** gamma * ce`: the loss itself where its probability belongs."""
    for power in grouped.operations(source, ast.Pow) if calls else ():
        rest = power.left
        if not isinstance(rest, ast.BinOp) or not isinstance(rest.op, ast.Sub) or tree.literal(rest.left) != 1:
            continue
        up = source.parents[power]
        factors = {source.code(one) for one in (up.left, up.right)} if isinstance(up, ast.BinOp) else set()
        made = follow.possible(source, rest.right)
        if made and all(id(one) in calls for one in made) and source.code(rest.right) in factors | _outer(source, up):
            code = source.code(rest.right)
            yield source.hit(power, f"`{code}` is a loss and no probability, which is `torch.exp(-{code})`")


def _outer(source: Source, node: ast.AST) -> set[str]:
    """The other factor one product further out: `alpha * (1 - ce) ** gamma * ce`."""
    up = source.parents[node]
    return {source.code(one) for one in (up.left, up.right)} if isinstance(up, ast.BinOp) else set()
