"""The rule of monitor-the-wrong-way."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, tree
from torchlore.check.scores import direction_of_key
from torchlore.check.source import Hit, Source

_CALLBACKS = "lightning.pytorch.callbacks."
_KEEPERS = (f"{_CALLBACKS}ModelCheckpoint", f"{_CALLBACKS}model_checkpoint.ModelCheckpoint")
_STOPPERS = (f"{_CALLBACKS}EarlyStopping", f"{_CALLBACKS}early_stopping.EarlyStopping")
_ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
_OLD = ("filepath", "prefix", "period")  # of a ModelCheckpoint that chose its mode by the name
_WHAT = {"max": "grows as the model gets better", "min": "falls as the model gets better"}
WORDS = ("ModelCheckpoint|EarlyStopping|TrainingArguments|Seq2SeqTrainingArguments", "monitor|metric_for_best_model")


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*_KEEPERS, *_STOPPERS):
        stops = source.name(call.func) in _STOPPERS
        yield from _by_mode(source, call, 0 if stops else 2, 4 if stops else None)
    for call in source.calls(*_ARGUMENTS):
        yield from _by_guess(source, call)


def _by_mode(source: Source, call: ast.Call, monitor: int, mode: int | None) -> Iterator[Hit]:
    """A callback of Lightning, whose mode is "min" where nobody says it."""
    word = _written(source, tree.argument(call, monitor, "monitor"))
    wanted, given = direction_of_key(word), tree.argument(call, mode, "mode")
    all_kept = tree.literal(tree.argument(call, None, "save_top_k")) == -1
    if not wanted or all_kept or any(tree.keyword(call, one) for one in _OLD):
        return
    said = "min" if tree.lacks(call, mode, "mode") else _written(source, given)
    if {said, wanted} != {"min", "max"}:
        return
    kind = source.name(call.func).rpartition(".")[2]
    end = "the worst model is kept" if kind == "ModelCheckpoint" else "the run ends as it gets better"
    wrong = "takes the smallest" if said == "min" else "takes the largest"
    told = f'`{word}` {_WHAT[wanted]} and this {kind} {wrong}, so {end}: write `mode="{wanted}"`'
    fix = (
        [edits.set_keyword(source, call, "mode", f'"{wanted}"')] if given is None or tree.keyword(call, "mode") else []
    )
    yield source.hit(call, told, *fix, safe=False)


def _by_guess(source: Source, call: ast.Call) -> Iterator[Hit]:
    """The arguments of transformers, which take what does not end in "loss" for a score."""
    word = _written(source, tree.argument(call, None, "metric_for_best_model"))
    wanted, given = direction_of_key(word), tree.argument(call, None, "greater_is_better")
    best = tree.literal(tree.argument(call, None, "load_best_model_at_end")) is True
    if not wanted or not (best or "EarlyStoppingCallback" in source.text):
        return
    said = _written(source, given)
    if tree.lacks(call, None, "greater_is_better"):
        said = not str(word).endswith("loss")
    if not isinstance(said, bool) or said is (wanted == "max"):
        return
    want = wanted == "max"
    guess = "guessed by its name" if given is None else "said here"
    told = f"`{word}` {_WHAT[wanted]}, and the other way is {guess}, so the worst model is taken for the best: write `greater_is_better={want}`"
    yield source.hit(call, told, edits.set_keyword(source, call, "greater_is_better", str(want)), safe=False)


def _written(source: Source, node: ast.expr | None) -> object:
    """The constant that an argument is, also by a name."""
    return tree.literal(follow.followed(source, node)) if node is not None else tree.UNKNOWN
