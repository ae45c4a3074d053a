"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, follow, grouped, scopes, terms, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_DONE = regex(r"(^|_)(not_?)?(done|dones|terminal|terminals|terminated|is_done)(_|s?$)", re.IGNORECASE)
_REWARD = regex(r"(^|[^a-z])(r|rew|reward|rewards)([^a-z]|$)", re.IGNORECASE)
_FLAG = regex(r"dones?|(is_)?done_?(flags?|batch)?|terminals?|terminated|batch_dones?|done_b", re.IGNORECASE)
_TURNED = regex(
    r"1\.?0?\s*-\s*[\w.\[\]\"\'()]*(done|termin)|not[\s_(]+\w*(done|termin)|~\s*\w*(done|termin)|mask\s*=.*(done|termin)"
)
_MASK = regex(r"mask|(^|_)(not_?)?dones?(_|$)|continu|alive", re.IGNORECASE)
_GAMMA = regex(r"gamma|discount", re.IGNORECASE)
_NEXT = regex(r"next|target|new_|_prime|s2|s_", re.IGNORECASE)
_LOG_PROB = regex(r"next_?log|log_?(prob|pi|p)s?_?(next|2|prime)|new_next_log", re.IGNORECASE)
_COEFFICIENT = regex(r"alpha|ent|temp", re.IGNORECASE)
WORDS = ("*gamma*|*discount*",)


def find(source: Source) -> Iterator[Hit]:
    yield from _mask_added(source)
    if not any(word in source.text for word in ("done", "termina")):
        return
    yield from (*_zeroed_too_late(source), *_entropy_outside(source))
    for sum_ in grouped.operations(source, ast.Add):
        home = tree.function(source, sum_)
        if flag := _kept_at_the_end(source, sum_):
            told = f"this keeps the next value only where the episode is over: multiply it with `1 - {flag}`"
            yield source.hit(sum_, told, severity="warning")
        if home is None or not _is_target(source, sum_):
            continue
        flag = _forgotten(source, home)
        if flag:
            yield source.hit(
                sum_,
                f"`{flag}` is never read, so the last step of an episode is given the value of a next state: multiply it with `1 - {flag}`",
            )


def _mask_added(source: Source) -> Iterator[Hit]:
    """`reward + gamma * mask + next_value`: the mask should multiply the value."""
    for sum_ in grouped.operations(source, ast.Add):
        product, value = sum_.left, sum_.right
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Add):
            product = product.right  # reward + gamma * mask, + next_value
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        words = {_named(product.left), _named(product.right)}
        discounts = any(_GAMMA.search(word) for word in words) and any(_MASK.search(word) for word in words)
        if discounts and _NEXT.search(_named(value)) and _REWARD.search(source.code(tree.statement(source, sum_))):
            mask = next(word for word in words if _MASK.search(word))
            yield source.hit(
                sum_, f"`{mask}` is added to the next value and should multiply it: write `* {source.code(value)}`"
            )


def _zeroed_too_late(source: Source) -> Iterator[Hit]:
    """`target = r + gamma * q_next`, and then `q_next[done] = 0`, which nobody reads any more."""
    for cell in grouped.stored(source):
        name, home = cell.value, tree.function(source, cell)
        statement = source.parents[cell]
        zero = isinstance(statement, ast.Assign) and tree.literal(statement.value) in (0, 0.0)
        if not zero or home is None or not isinstance(name, ast.Name) or not _FLAG.search(source.code(cell.slice)):
            continue
        reads = [one for one in uses.names(source, name.id) if tree.function(source, one) is home and one is not name]
        reads = [one for one in reads if isinstance(one.ctx, ast.Load)]
        bound = scopes.reaching(source, name)
        made = [one for one in bound if one.how == "assign" and isinstance(one.value, ast.Call | ast.Attribute)]
        early = [one for one in reads if one.lineno < cell.lineno and scopes.reaching(source, one) == bound]
        own = len(made) == len(bound) == 1 and tree.loops(source, made[0].statement) == tree.loops(source, cell)
        summed = any(_GAMMA.search(source.code(tree.statement(source, one))) for one in early)
        if own and summed and all(one.lineno < cell.lineno for one in reads):
            yield source.hit(
                cell, f"`{name.id}` was read above, and this zero reaches nobody: set it before the target is made"
            )


def _entropy_outside(source: Source) -> Iterator[Hit]:
    """`r + (1 - done) * gamma * q - alpha * next_log_prob`: the entropy of a state that is not there is in the target."""
    for gap in grouped.operations(source, ast.Sub):
        product = gap.right
        names = {_named(one) for one in terms.factors(product)} if isinstance(product, ast.BinOp) else set()
        entropy = any(_LOG_PROB.search(one) for one in names) and any(_COEFFICIENT.search(one) for one in names)
        left = gap.left if isinstance(gap.left, ast.BinOp) and isinstance(gap.left.op, ast.Add) else None
        if left is None or not entropy or len(names) != 2 or not _GAMMA.search(source.code(left)):
            continue
        words = [_word(one) for one in ast.walk(left)]
        rewarded = any(_REWARD.search(_named(one)) for one in (left.left, left.right))
        if rewarded and any(_DONE.search(word) or _MASK.search(word) for word in words):
            told = "the entropy belongs to the next state's value: behind the end of an episode there is none, and it wants `gamma` too"
            yield source.hit(gap.right, f"{told}: subtract it within the brackets", severity="warning")


def _is_target(source: Source, sum_: ast.BinOp) -> bool:
    """`reward + gamma * next_value`, in either order."""
    for one, other in ((sum_.left, sum_.right), (sum_.right, sum_.left)):
        name = _named(one)
        product = isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult)
        if product and _REWARD.search(name) and _GAMMA.search(source.code(other)):
            whole = _spelled_out(source, other)
            return _NEXT.search(whole) is not None and not _DONE.search(whole)
    return False


def _spelled_out(source: Source, product: ast.expr) -> str:
    """The text of `gamma * best`, and of what `best` stands for."""
    names = [one for one in ast.walk(product) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    return " ".join([source.code(product), *(source.code(follow.followed(source, one)) for one in names)])


def _kept_at_the_end(source: Source, sum_: ast.BinOp) -> str:
    """`done` of `reward + gamma * next_value * done`, in a file that never turns it round."""
    for one, other in ((sum_.left, sum_.right), (sum_.right, sum_.left)):
        product = isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult)
        if product and _REWARD.search(_named(one)) and _GAMMA.search(source.code(other)):
            factors = (part for part in ast.walk(other) if isinstance(part, ast.Name))
            whole = [part for part in factors if _FLAG.fullmatch(part.id) and _seen(source, part)]
            turned = any(isinstance(part, ast.Sub | ast.UnaryOp) for part in ast.walk(other))
            return whole[0].id if whole and not turned and not _TURNED.search(source.text) else ""
    return ""


def _seen(source: Source, flag: ast.Name) -> bool:
    """Whether the file plays itself, or the flag is handed in, by nobody in sight or by one who plays; a memory may hold it turned round."""
    if ".step(a" in source.text:
        return True
    bound = [one.node for one in scopes.reaching(source, flag) if one.how == "parameter"]
    callers = [pair for one in bound if isinstance(one, ast.arg) for pair in calls.given(source, one)]
    handed = len(bound) == len(scopes.reaching(source, flag))
    return handed and all(".step(a" in at.text for at, _ in callers)


def _named(node: ast.expr) -> str:
    """`rewards` of `self.rewards.squeeze(1)[0]`."""
    while isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        node = node.value if isinstance(node, ast.Subscript) else tree.receiver(node)
    return tree.dotted(node).rpartition(".")[2]


def _forgotten(source: Source, home: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The flag of an episode's end that a function has and reads for nothing but to make it a tensor; "" if none."""
    found, short = "", _short(source, home)
    for node in tree.under(source, home, ast.Name, ast.Attribute, ast.Constant):
        word = _word(node)
        if not word or not (_DONE.search(word) or word in short) or len(word) > 24:
            continue
        statement = tree.statement(source, node)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        named = [
            one
            for target in targets
            for one in ast.walk(target)
            if isinstance(one, ast.Name)
            and isinstance(one.ctx, ast.Store)
            and (_DONE.search(one.id) or one.id in short)
        ]
        if not named:
            return ""  # it is read for something else
        found = named[-1].id
    return found


def _short(source: Source, home: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """`d` of `s, a, r, s2, d = batch`: the flag of five that are unpacked together, the reward among them."""
    tuples = [
        one for one in tree.under(source, home, ast.Tuple) if isinstance(one.ctx, ast.Store) and len(one.elts) == 5
    ]
    several = [[tree.dotted(part) for part in one.elts] for one in tuples]
    played = [names for names in several if any(_REWARD.search(name) for name in names)]
    return {name for names in played for name in names if name in ("d", "ds", "bd", "b_d")}


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
