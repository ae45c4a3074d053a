from dataclasses import dataclass

import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Settings:
    keep_prob: float = 0.8
    keep_rate: float = 0.1  # named wrong, and dropped as it should be
    dropout: float = 0.1


class Encoder(nn.Module):
    def __init__(self, settings, config, p_keep):
        super().__init__()
        self.config = config
        self.a = nn.Dropout(settings.keep_prob)  # trap: keep-probability-as-dropout
        self.b = nn.Dropout2d(p=config["dropout_keep_prob"])  # trap: keep-probability-as-dropout
        self.c = nn.LSTM(4, 4, 2, dropout=p_keep)  # trap: keep-probability-as-dropout
        self.d = nn.Dropout(config.get("keep_prob", 0.9))  # trap: keep-probability-as-dropout
        self.fine = nn.ModuleList([nn.Dropout(1 - settings.keep_prob), nn.Dropout(1.0 - p_keep)])
        self.misnamed = nn.Dropout(settings.keep_rate)
        self.plain = nn.Dropout(settings.dropout)

    def forward(self, x):
        x = F.dropout(x, self.config.keep_prob, self.training)  # trap: keep-probability-as-dropout
        return F.dropout(x, p=1 - self.config.keep_prob, training=self.training)


def build(config):
    keep_prob = 1 - config.keep_prob
    return Encoder(Settings(), config, 0.75), nn.Dropout(keep_prob)


def half(keep_prob=0.5):
    return nn.Dropout(keep_prob)


def seeds(x, keepdim, keep):
    return F.dropout(x, 0.1), x.sum(1, keepdim=keepdim), nn.Dropout(0.1 if keep else 0.0)
