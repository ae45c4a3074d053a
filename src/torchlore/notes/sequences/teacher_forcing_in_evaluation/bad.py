import random

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(9, 8), nn.GRUCell(8, 8), nn.Linear(8, 9)
        self.given = 0

    def forward(self, start, words, teacher_forcing_ratio=0.5):
        word, hidden, scores = start, torch.zeros(len(start), 8), []
        for t in range(words.size(1)):
            hidden = self.cell(self.embed(word), hidden)
            scores.append(self.out(hidden))
            use_truth = random.random() < teacher_forcing_ratio
            self.given += use_truth
            word = words[:, t] if use_truth else scores[-1].argmax(dim=1)
        return torch.stack(scores, dim=1)


def evaluate(model, start, words):
    model.eval()
    with torch.no_grad():
        scores = model(start, words)  # trap: teacher-forcing-in-evaluation
    return (scores.argmax(dim=-1) == words).float().mean().item()


random.seed(0)
torch.manual_seed(0)
decoder = Decoder()
evaluate(decoder, torch.zeros(4, dtype=torch.long), torch.randint(0, 9, (4, 50)))
result = {"given": decoder.given / 50}
