import pytorch_lightning as pl
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from pytorch_lightning.callbacks.early_stopping import EarlyStopping as Stop
from transformers import Seq2SeqTrainingArguments, TrainingArguments

METRIC = "valid/f1"


def lightning(folder, options):
    yield ModelCheckpoint(folder, "{epoch}", "val_iou", save_top_k=3)  # trap: monitor-the-wrong-way
    yield ModelCheckpoint(monitor=METRIC, save_last=True)  # trap: monitor-the-wrong-way
    yield ModelCheckpoint(monitor="val_loss", mode="max")  # trap: monitor-the-wrong-way
    yield EarlyStopping(monitor="val_accuracy", patience=3)  # trap: monitor-the-wrong-way
    yield EarlyStopping("Acc/val", 0.0, 3, False, "min")  # trap: monitor-the-wrong-way
    yield Stop("val_auroc")  # trap: monitor-the-wrong-way
    yield pl.callbacks.ModelCheckpoint(monitor="top1")  # trap: monitor-the-wrong-way
    yield ModelCheckpoint(monitor="val_acc", mode="max")
    yield ModelCheckpoint(monitor="val_loss")
    yield ModelCheckpoint(monitor="val_acc_loss")
    yield ModelCheckpoint(monitor="val_acc", save_top_k=-1)
    yield ModelCheckpoint(monitor="val_acc", **options)
    yield ModelCheckpoint(filepath=folder, monitor="val_acc")
    yield ModelCheckpoint(monitor="step", mode="max")
    yield EarlyStopping("val_f1", 0.0, 3, False, "max")
    yield EarlyStopping(monitor="val_f1", mode=options["mode"])
    yield EarlyStopping(monitor=options["monitor"])


def transformers(folder, better):
    yield TrainingArguments(folder, load_best_model_at_end=True, metric_for_best_model="wer")  # trap: monitor-the-wrong-way
    yield Seq2SeqTrainingArguments(  # trap: monitor-the-wrong-way
        folder, load_best_model_at_end=True, metric_for_best_model="eval_loss", greater_is_better=True
    )
    yield TrainingArguments(  # trap: monitor-the-wrong-way
        folder, load_best_model_at_end=True, metric_for_best_model="f1", greater_is_better=False
    )
    yield TrainingArguments(folder, load_best_model_at_end=True, metric_for_best_model="accuracy")
    yield TrainingArguments(folder, load_best_model_at_end=True, metric_for_best_model="eval_loss")
    yield TrainingArguments(folder, load_best_model_at_end=True, metric_for_best_model="wer", greater_is_better=False)
    yield TrainingArguments(folder, load_best_model_at_end=True, metric_for_best_model="cer", greater_is_better=better)
    yield TrainingArguments(folder, metric_for_best_model="wer")
    yield TrainingArguments(folder, load_best_model_at_end=True)
