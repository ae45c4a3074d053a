"""Files that timm, Lightning, Hugging Face, scikit-learn and torch write: none of them is called dangerous."""

import pickle
import random
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from torchlore.ckpt.names import Verdict
from torchlore.ckpt.reader import read_checkpoint
from torchlore.ckpt.scan import scan
from torchlore.ckpt.weights import resume_parts, weights


def verdicts(path, allow=()):
    reports = list(scan(path, allow))
    assert reports
    for report in reports:
        assert not report.error, report.error
        assert report.verdict is not Verdict.DANGEROUS, [(use.what, use.reason) for use in report.worst()]
    return {report.verdict for report in reports}


def save_whole(model, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.save(model, path)


def test_timm(tmp_path):
    timm = pytest.importorskip("timm")
    for name in ("resnet18", "vit_tiny_patch16_224", "efficientnet_lite0", "convnext_atto"):
        model = timm.create_model(name)
        torch.save(
            {
                "arch": name,
                "state_dict": model.state_dict(),
                "state_dict_ema": model.state_dict(),
                "metric": np.float64(1),
            },
            tmp_path / "a.pt",
        )
        assert verdicts(tmp_path / "a.pt") == {Verdict.ALLOWED}
        save_whole(model, tmp_path / "whole.pt")
        assert verdicts(tmp_path / "whole.pt") == {Verdict.UNKNOWN}
        assert verdicts(tmp_path / "whole.pt", ("timm.*",)) == {Verdict.ALLOWED}
        assert list(weights(read_checkpoint(tmp_path / "whole.pt"))) == list(model.state_dict())


def test_torchvision_whole_models(tmp_path):
    import torchvision

    for name in ("resnet18", "mobilenet_v3_small", "vit_b_32", "swin_t"):
        with torch.device("meta"):
            model = torchvision.models.get_model(name)
        save_whole(model, tmp_path / "a.pt")
        verdicts(tmp_path / "a.pt")
        assert list(weights(read_checkpoint(tmp_path / "a.pt"))) == list(model.state_dict())


def test_everything_of_torch(tmp_path):
    model = nn.Sequential(
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2), nn.LSTM(8, 4), nn.MultiheadAttention(8, 2),
        nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)), nn.Conv2d(3, 4, 3, padding="same"), nn.Embedding(5, 3), nn.Dropout(), nn.GELU(),
    )  # fmt: skip
    optimizers = [
        torch.optim.SGD(model.parameters(), 0.1, momentum=0.9),
        torch.optim.Adam(model.parameters()),
        torch.optim.AdamW(model.parameters()),
    ]
    schedulers = [
        torch.optim.lr_scheduler.OneCycleLR(optimizers[0], 0.1, 10),
        torch.optim.lr_scheduler.ReduceLROnPlateau(optimizers[1]),
    ]
    averaged = torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2))
    state = {
        "optimizers": [one.state_dict() for one in optimizers], "schedulers": [one.state_dict() for one in schedulers], "swa": averaged.state_dict(),
        "rng": {"python": random.getstate(), "numpy": np.random.get_state(), "torch": torch.get_rng_state()}, "scaler": torch.amp.GradScaler(enabled=False).state_dict(),  # noqa: NPY002 -- what people save
        "generator": np.random.default_rng(0), "dtype": torch.bfloat16, "device": torch.device("cpu"), "size": torch.Size([1, 2]), "version": torch.__version__,
    }  # fmt: skip
    torch.save(state, tmp_path / "a.pt")
    assert verdicts(tmp_path / "a.pt") == {Verdict.ALLOWED}
    torch.save({"optimizer": optimizers[1], "scheduler": schedulers[0]}, tmp_path / "objects.pt")
    verdicts(tmp_path / "objects.pt")
    torch.save(nn.Sequential(*list(model.children())[1:3]), tmp_path / "whole.pt")
    assert verdicts(tmp_path / "whole.pt") == {Verdict.ALLOWED}
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(model[1]))
    assert verdicts(tmp_path / "plain.pkl") == {Verdict.ALLOWED}


def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning.pytorch")

    class Module(lightning.LightningModule):
        def __init__(self, width: int = 4, act=nn.ReLU):
            super().__init__()
            self.save_hyperparameters()
            self.model = nn.Sequential(nn.Linear(3, width), act(), nn.Linear(width, 1))

        def training_step(self, batch, _):
            return self.model(batch).mean()

        def configure_optimizers(self):
            optimizer = torch.optim.Adam(self.parameters())
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        callback = lightning.callbacks.ModelCheckpoint(dirpath=tmp_path, filename="a")
        trainer = lightning.Trainer(
            max_epochs=1, accelerator="cpu", logger=False, callbacks=[callback], enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        trainer.fit(Module(), torch.utils.data.DataLoader(torch.randn(4, 3)))
    found = read_checkpoint(tmp_path / "a.ckpt")
    assert verdicts(tmp_path / "a.ckpt") == {Verdict.ALLOWED}
    assert list(weights(found)) == [f"model.{n}.{p}" for n in (0, 2) for p in ("weight", "bias")]
    parts = resume_parts(found.root)
    assert (parts["optimizer"], parts["scheduler"], parts["epoch or step"]) == (
        "optimizer_states",
        "lr_schedulers",
        "epoch",
    )
    assert found.root["hyper_parameters"]["width"] == 4


def test_hugging_face(tmp_path):
    transformers = pytest.importorskip("transformers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = transformers.BertConfig(
            hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, vocab_size=500
        )
        model = transformers.BertModel(config)
        model.save_pretrained(tmp_path / "one")
        model.save_pretrained(tmp_path / "many", max_shard_size="10KB")
        args = transformers.TrainingArguments(output_dir=str(tmp_path / "out"), report_to=[], use_cpu=True)
    torch.save(args, tmp_path / "one" / "training_args.bin")
    torch.save(model.state_dict(), tmp_path / "one" / "pytorch_model.bin")
    verdicts(tmp_path)
    for folder in ("one", "many"):
        found = weights(read_checkpoint(tmp_path / folder))
        assert set(found) <= set(model.state_dict())
        assert len(found) > 15
    assert read_checkpoint(tmp_path / "many").format == "sharded index"


def test_scikit_learn(tmp_path):
    joblib = pytest.importorskip("joblib")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    for number, model in enumerate((RandomForestClassifier(3), make_pipeline(StandardScaler(), LogisticRegression()))):
        model.fit(x, y)
        for compress in (0, 3, ("bz2", 3), ("xz", 3)):
            joblib.dump(model, tmp_path / f"{number}.joblib", compress=compress)
            assert verdicts(tmp_path) == {Verdict.UNKNOWN}
        (tmp_path / f"{number}.joblib").write_bytes(pickle.dumps(model))
        assert verdicts(tmp_path) == {Verdict.UNKNOWN}


@pytest.mark.parametrize("package", ["torchvision", "PIL", "rich"])
def test_the_files_of_ordinary_packages_are_no_pickles(package):
    """A folder of Python source, images and libraries raises no false alarm."""
    import importlib
    from pathlib import Path

    folder = Path(importlib.import_module(package).__file__).parent
    found = [report.path for report in scan(folder) if report.verdict is Verdict.DANGEROUS]
    assert found == []
