"""The record of a run: flags, YAML, and what is refused before any data is read."""

import argparse
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlore.cli import main
from torchlore.train.flags import add_flags, from_flags, read, write
from torchlore.train.run import Refused, Run, changes, checked, refuse


def parsed(*words: str) -> Run:
    parser = argparse.ArgumentParser()
    add_flags(parser)
    return from_flags(parser.parse_args(words))


def test_every_field_is_a_flag_with_help() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser)
    text = parser.format_help()
    assert len(fields(Run)) <= 43  # "about 40": task, loss and group serve four tasks
    assert [one.name for one in fields(Run) if f"--{one.name.replace('_', '-')}" not in text] == []
    assert parsed() == Run()
    assert parsed("--lr", "0.5", "--no-watch", "--batch-size", "8") == Run(lr=0.5, watch=False, batch_size=8)


@settings(deadline=None)
@given(st.floats(1e-6, 10), st.integers(1, 500), st.booleans(), st.sampled_from(["cosine", "constant", "onecycle"]))
def test_a_run_survives_its_yaml_file(lr: float, epochs: int, watch: bool, schedule: str) -> None:
    import tempfile

    run = Run(lr=lr, epochs=epochs, watch=watch, schedule=schedule)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        write(run, path)
        assert read(path) == run


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("epochs: 7\nlr: 1e-3\n")
    assert parsed("--config", str(tmp_path / "run.yaml"), "--epochs", "9") == Run(epochs=9, lr=1e-3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("epoch: 3", "did you mean 'epochs'?"),
        ("epochs: many", "epochs takes a int; got 'many'"),
        ("- 1", "must hold names and values"),
        ("a: [", "is no YAML"),
        ("watch: 1", "watch takes a bool"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "run.yaml").write_text(text)
    with pytest.raises(Refused) as refused:
        read(tmp_path / "run.yaml")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="cannot be read"):
        read(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"mixup": 0.2, "cutmix": 1.0}, "--mixup and --cutmix"),
        ({"epochs": 0}, "--epochs"),
        ({"batch_size": 10, "accumulate": 4}, "--batch-size 10"),
        ({"label_smoothing": 1.0}, "--label-smoothing"),
        ({"lr": 0.0}, "--lr"),
        ({"lr": float("nan")}, "--lr"),
        ({"schedule": "multistep"}, "--milestones"),
        ({"schedule": "plateau", "val": 0.0}, "plateau"),
        ({"freeze": "backbone"}, "--weights"),
        ({"accumulate": 0}, "--accumulate must be at least 1; got 0"),
        ({"size": -5}, "--size must be at least 0; got -5"),
        ({"warmup": -1.0}, "--warmup"),
        ({"clip": -1.0}, "--clip"),
        ({"mixup": -1.0}, "--mixup"),
        ({"confusion": -1}, "--confusion"),
        ({"weight_decay": float("nan")}, "--weight-decay"),
        ({"lr": float("inf")}, "--lr must be above 0; got inf"),
        ({"gamma": 0.0}, "--gamma must be above 0"),
        ({"layer_decay": 2.0}, "--layer-decay must be above 0 and at most 1; got 2.0"),
        ({"momentum": 1.0}, "--momentum must be at least 0 and below 1"),
        ({"val": 0.99}, "--val must be at least 0 and at most 0.5"),
        ({"seed": -1}, "--seed must be at least 0"),
        ({"workers": -3}, "--workers must be at least -1"),
        ({"save_every": -1}, "--save-every"),
        ({"data": ""}, "--data is empty"),
        ({"log": "wandb"}, "wandb"),
        ({"log": "csv,visdon"}, "visdon"),
        ({"schedule": "cosin"}, "not one of"),
        ({"compile": "graph", "mixup": 0.2}, "--compile graph"),
        ({"shard": True, "ema": 0.9}, "--ema averages whole ones"),
        ({"shard": True, "l1": 0.1}, "--l1 adds up whole ones"),
        ({"shard": True, "precision": "fp16"}, "use --precision bf16"),
        ({"shard": True, "compile": "model"}, "--compile model wants the whole step"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_work_is_refused_with_the_reason(change: dict[str, object], word: str) -> None:
    with pytest.raises(Refused) as refused:
        checked(replace(Run(), **change))  # type: ignore[arg-type]
    assert word in str(refused.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--device gpu", "--device gpu: torch"),
        ("--device meta", "no such device here"),
        ("--precision fp16 --device cpu", "fp16 needs a GPU: use bf16"),
        ("--size 32", "--size 32: the pictures of digits are held in memory and keep their 8 pixels"),
        ("--milestones 3,x --schedule step", "takes epochs in their order, such as 30,60; got 3,x"),
        ("--model resnet18 --weights imagenet", "'imagenet': resnet18 has IMAGENET1K_V1"),
        ("--learning-rate 1", "there is no option --learning-rate; did you mean --lr?"),
        ("--epchs=3", "there is no option --epchs=3; did you mean --epochs?"),
        ("--zzz", "there is no option --zzz; `lore train --help` lists them"),
    ],
)
def test_what_only_torch_or_the_parser_knows_is_refused_in_one_line(
    words: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *words.split(), "--out", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_default_run_is_fine_and_changes_nothing() -> None:
    assert list(refuse(Run())) == []
    assert changes(Run()) == {}
    assert changes(Run(lr=1.0)) == {"lr": 1.0}


def test_each_task_has_its_functions_and_a_default_run_that_is_fine() -> None:
    from torchlore.train.run import TASKS, defaults
    from torchlore.train.tasks import TASKS as FUNCTIONS

    assert TASKS.keys() == FUNCTIONS.keys()
    for task in TASKS:
        assert list(refuse(defaults(task))) == []
        assert parsed("--task", task) == defaults(task)
        assert changes(defaults(task)) == ({} if task == "classify" else {"task": task})


def test_a_task_refuses_what_would_do_nothing(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="--group does nothing for --task classify"):
        checked(Run(group=4))
    with pytest.raises(Refused, match="--loss of --task classify is made of ce; got 'dice'"):
        checked(Run(loss="ce+dice"))
    with pytest.raises(Refused, match="--momentum does nothing for --optimizer adamw: leave it out"):
        checked(Run(momentum=0.5))
    with pytest.raises(Refused, match="--warmup does nothing for --schedule onecycle"):
        checked(Run(schedule="onecycle", warmup=3))
    assert checked(Run(schedule="plateau", gamma=0.5, optimizer="sgd", momentum=0.8)).gamma == 0.5
    (tmp_path / "run.yaml").write_text("task: detect\n")
    with pytest.raises(Refused, match="'detect' is not one of classify"):
        read(tmp_path / "run.yaml")
