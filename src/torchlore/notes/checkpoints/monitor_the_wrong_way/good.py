import tempfile
import warnings

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
ACCURACIES = [0.5, 0.9, 0.7]


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def training_step(self, batch):
        return nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

    def validation_step(self, batch):
        self.log("val_acc", ACCURACIES[self.current_epoch], batch_size=len(batch[0]))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


loader = DataLoader(TensorDataset(torch.randn(8, 2), torch.randint(0, 2, (8,))), batch_size=4)
with tempfile.TemporaryDirectory() as folder:
    keeper = ModelCheckpoint(dirpath=folder, monitor="val_acc", mode="max")
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "num_sanity_val_steps": 0}
    trainer = pl.Trainer(max_epochs=3, accelerator="cpu", devices=1, callbacks=[keeper], **quiet)
    trainer.fit(Net(), loader, loader)

result = {"kept": float(keeper.best_model_score)}
