"""The rule of load-failure-swallowed."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

_BROAD = ("Exception", "BaseException")
WORDS = ("load_state_dict", "except")


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("load_state_dict"):
        held = next((up for up in tree.ancestors(source, call) if isinstance(up, ast.Try)), None)
        if (
            held is None
            or not any(tree.inside(source, call, part) for part in held.body)
            or tree.function(source, held) is not tree.function(source, call)
        ):
            continue
        if call.args and follow.method(follow.followed(source, call.args[0])) == "state_dict":
            continue  # from another network in memory: no file can be missing
        if values.maybe(source, tree.receiver(call), "optimizer", "scheduler", "scaler", weak=True):
            continue
        for handler in held.handlers:
            if (
                _is_broad(source, handler)
                and all(_only_says(source, one) for one in handler.body)
                and not held.orelse
                and not _told_why(source, handler)
            ):
                told = f"line {handler.lineno} swallows every reason why this fails, and the weights stay what they were: catch FileNotFoundError alone"
                yield source.hit(call, told)
                break


def _is_broad(source: Source, handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(one is None or source.name(one) in _BROAD for one in kinds)


def _told_why(source: Source, handler: ast.ExceptHandler) -> bool:
    """Whether the handler shows the error itself: then somebody may read it."""
    text = " ".join(source.code(one) for one in handler.body)
    named = handler.name is not None and any(
        isinstance(one, ast.Name) and one.id == handler.name for part in handler.body for one in ast.walk(part)
    )
    return named or "traceback" in text or "exc_info" in text or ".exception(" in text


def _only_says(source: Source, statement: ast.stmt) -> bool:
    """`pass`, a print or a log: nothing that raises, returns, or loads something else."""
    if isinstance(statement, ast.Pass):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Constant):
        return True
    words = ("print", "log", "warn", "info", "debug", "error")
    return (
        isinstance(call, ast.Call)
        and any(word in tree.dotted(call.func).lower() for word in words)
        and "exit" not in source.code(call)
    )
