"""The rule of monitor-the-wrong-way."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, follow, tree, uses
from torchlore.check.project import Function
from torchlore.check.scores import direction_of_key
from torchlore.check.source import Hit, Source

_CALLBACKS = "lightning.pytorch.callbacks."
_KEEPERS = (f"{_CALLBACKS}ModelCheckpoint", f"{_CALLBACKS}model_checkpoint.ModelCheckpoint")
_STOPPERS = (f"{_CALLBACKS}EarlyStopping", f"{_CALLBACKS}early_stopping.EarlyStopping")
_ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
_OLD = ("filepath", "prefix", "period")  # of a ModelCheckpoint that chose its mode by the name
_WHAT = {"max": "grows as the model gets better", "min": "falls as the model gets better"}
_OLD_TRAINER = ("checkpoint_callback", "early_stop_callback", "early_stopping_callback")  # of the same time
WORDS = (
    "ModelCheckpoint|EarlyStopping|TrainingArguments|Seq2SeqTrainingArguments|create_study|sweep|tune|score_function",
    "monitor|metric_for_best_model|optimize|metric|metrics",
)


def find(source: Source) -> Iterator[Hit]:
    old = any(uses.keywords(source, *_OLD_TRAINER))
    for call in source.calls(*_KEEPERS, *_STOPPERS) if not old else ():
        stops = source.name(call.func) in _STOPPERS
        yield from _by_mode(source, call, 0 if stops else 2, 4 if stops else None)
    for call in source.calls(*_ARGUMENTS):
        yield from _by_guess(source, call)
    yield from _studied(source) if "create_study" in source.text else ()
    yield from _swept(source) if "sweep" in source.text else ()
    yield from _tuned(source) if "tune" in source.text else ()
    yield from _scored(source) if "score_function" in source.text else ()
    for call in source.calls("skorch.callbacks.EarlyStopping"):
        word = _written(source, tree.argument(call, 0, "monitor"))
        falls = (
            tree.lacks(call, 4, "lower_is_better") or tree.literal(tree.argument(call, 4, "lower_is_better")) is True
        )
        if direction_of_key(word) == "max" and falls:
            told = (
                f"`{word}` {_WHAT['max']}, and this EarlyStopping waits for it to fall: write `lower_is_better=False`"
            )
            yield source.hit(call, told)


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


def _studied(source: Source) -> Iterator[Hit]:
    """`optuna.create_study()`, which makes small what the objective gives back, and that is an accuracy."""
    for call in source.calls("optuna.create_study"):
        held = source.parents[call]
        name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        way = "minimize" if tree.lacks(call, 4, "direction") else _written(source, tree.argument(call, 4, "direction"))
        if not name or tree.keyword(call, "directions") or way not in ("minimize", "maximize"):
            continue
        for run in source.methods("optimize"):
            given = tree.argument(run, 0, "func") if tree.dotted(tree.receiver(run)) == name else None
            found = source.project.resolve(source, given) if isinstance(given, ast.Name | ast.Attribute) else None
            words = (
                {tree.dotted(one).rpartition(".")[2] for one in calls.returned(found)}
                if isinstance(found, Function)
                else set()
            )
            wrong = {word for word in words if direction_of_key(word) == ("max" if way == "minimize" else "min")}
            if words and wrong == words:
                want = "maximize" if way == "minimize" else "minimize"
                told = f'this study is to {way} `{min(wrong)}`, which {_WHAT["max" if want == "maximize" else "min"]}: write `direction="{want}"`'
                yield source.hit(call, told, edits.set_keyword(source, call, "direction", f'"{want}"'), safe=False)


def _scored(source: Source) -> Iterator[Hit]:
    """`score_function=lambda engine: engine.state.metrics["loss"]`, of which Ignite takes the greatest."""
    for given in uses.keywords(source, "score_function"):
        call = source.parents[given]
        if not isinstance(call, ast.Call) or not source.name(call.func).startswith("ignite.handlers."):
            continue
        found = source.project.resolve(source, given.value)
        scores = calls.returned(found) if isinstance(found, Function) else []
        scores = [given.value.body] if isinstance(given.value, ast.Lambda) else scores
        words = [tree.literal(one.slice) if isinstance(one, ast.Subscript) else "" for one in scores]
        if words and all(direction_of_key(word) == "min" for word in words):
            told = f"`{words[0]}` {_WHAT['min']}, and Ignite takes the greatest score for the best: give it back with a minus"
            yield source.hit(given.value, told)


def _swept(source: Source) -> Iterator[Hit]:
    """`{"name": "val_acc"}` and `{"name": "val_acc", "goal": "minimize"}` as the metric of a sweep of wandb."""
    for table in source.all(ast.Dict):
        parts = {
            tree.literal(key): value for key, value in zip(table.keys, table.values, strict=True) if key is not None
        }
        metric = parts.get("metric")
        if not isinstance(metric, ast.Dict) or not {"method", "parameters"} & parts.keys():
            continue
        said = {
            tree.literal(key): tree.literal(value)
            for key, value in zip(metric.keys, metric.values, strict=True)
            if key is not None
        }
        goal, wanted = said.get("goal", "minimize"), direction_of_key(said.get("name"))
        if wanted and goal in ("minimize", "maximize") and not str(goal).startswith(wanted):
            told = f'`{said["name"]}` {_WHAT[wanted]}, and this sweep is to {goal} it: write `"goal": "{wanted}imize"`'
            yield source.hit(metric, told)


def _tuned(source: Source) -> Iterator[Hit]:
    """`ASHAScheduler(metric="accuracy", mode="min")` of Ray Tune."""
    for given in uses.keywords(source, "metric"):
        call = source.parents[given]
        if not isinstance(call, ast.Call) or not source.name(call.func).startswith("ray."):
            continue
        mode, wanted = tree.literal(tree.argument(call, None, "mode")), direction_of_key(tree.literal(given.value))
        if {mode, wanted} == {"min", "max"}:
            told = f'`{tree.literal(given.value)}` {_WHAT[wanted]}, and the best is the other end here: write `mode="{wanted}"`'
            yield source.hit(call, told)


def _written(source: Source, node: ast.expr | None) -> object:
    """The constant that an argument is, also by a name."""
    return tree.literal(follow.followed(source, node)) if node is not None else tree.UNKNOWN
