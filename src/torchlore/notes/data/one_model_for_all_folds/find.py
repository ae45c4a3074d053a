"""The rule of one-model-for-all-folds."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_FOLDS = tuple(f"sklearn.model_selection.{name}" for name in
               ("KFold", "StratifiedKFold", "GroupKFold", "StratifiedGroupKFold", "RepeatedKFold", "LeaveOneGroupOut", "LeaveOneOut",
                "RepeatedStratifiedKFold"))  # fmt: skip
_RENEWS = regex(
    r"reset|reinit|re_init|init_weights|weights_init|initial|deepcopy|create|build|make|get_model|load_(state|model|weights|checkpoint)",
    re.IGNORECASE,
)
_FOLD = regex(r"(^|_)fold(_?(i|id|idx|index|n|no|num|k))?$", re.IGNORECASE)
WORDS = ("*fold*|LeaveOneGroupOut|LeaveOneOut",)


def find(source: Source) -> Iterator[Hit]:
    folds = {one for one in source.all(ast.For) if _over_folds(source, one)}
    for loop in flow.loops(source) if folds and flow.may_train(source) else ():
        node = loop.node
        if not isinstance(node, ast.For) or node not in folds or frameworks.owned(source, node):
            continue
        if not loop.of("step") or not loop.of("backward") or loop.of("model", "load"):
            continue
        if loop.of("optimizer") and not isinstance(_model(source, loop), ast.Assign):
            continue
        calls = [call for part in node.body for call in tree.under(source, part, ast.Call)]
        if not any(_RENEWS.search(tree.dotted(one.func)) or follow.method(one) == "apply" for one in calls):
            told = f"each fold of line {node.lineno} goes on with the model of the fold before, which was trained on what is held out now"
            yield source.hit(_model(source, loop), f"{told}: make the model and its optimizer inside that loop")


def _model(source: Source, loop: flow.LoopFlow) -> ast.AST:
    """Where the model was made, in the same function; else the loop."""
    for event in loop.of("forward"):
        bound = (
            scopes.reaching(source, event.expr) if isinstance(event.expr, ast.Name) and event.source is source else []
        )
        made = bound[0].statement if len(bound) == 1 and bound[0].how == "assign" else None
        if made is not None and tree.function(source, made) is tree.function(source, loop.node):
            return made
    first = [
        one
        for one in source.all(ast.Assign)
        if one.lineno < loop.node.lineno and values.sure(source, one.value, "module")
    ]
    near = [
        one
        for one in first
        if tree.function(source, one) is tree.function(source, loop.node) and not values.sure(source, one.value, "loss")
    ]
    return near[-1] if near else loop.node.iter  # type: ignore[union-attr]  # a for loop: asked before


def _over_folds(source: Source, loop: ast.For) -> bool:
    """`for train, test in kfold.split(x)`, with or without `enumerate`."""
    over = loop.iter
    if isinstance(over, ast.Call) and source.name(over.func) in ("enumerate", "tqdm.tqdm", "list") and over.args:
        over = over.args[0]
    dealt = over.func if isinstance(over, ast.Call) else over
    if isinstance(dealt, ast.Name) and "fold" in dealt.id.lower():
        return _is_pair(loop.target)  # a function of one's own that deals them out, or the list of them
    if isinstance(over, ast.Call) and source.name(over.func) in ("range", "tqdm.trange"):
        return _leaves_one_out(source, loop)
    over = follow.followed(source, over)
    if not isinstance(over, ast.Call) or follow.method(over) != "split":
        return False
    made = follow.followed(source, tree.receiver(over))
    return isinstance(made, ast.Call) and source.name(made.func) in _FOLDS


def _leaves_one_out(source: Source, loop: ast.For) -> bool:
    """`for fold in range(5)`, where the rows of `parts[fold]` are held out: `i != fold` chooses the others."""
    name = tree.dotted(loop.target)
    if _FOLD.search(name) is None:
        return False
    tests = [one for one in tree.under(source, loop, ast.Compare) if isinstance(one.ops[0], ast.NotEq | ast.Eq)]
    return any(name in (tree.dotted(one.left), tree.dotted(one.comparators[0])) for one in tests)


def _is_pair(target: ast.expr) -> bool:
    """`train_idx, val_idx`, also behind the number that `enumerate` gives."""
    inner = target.elts[-1] if isinstance(target, ast.Tuple) and isinstance(target.elts[-1], ast.Tuple) else target
    names = [tree.dotted(one).lower() for one in inner.elts] if isinstance(inner, ast.Tuple) else []
    return len(names) == 2 and "tr" in names[0] and re.search(r"val|test|held|hold|te", names[1]) is not None
