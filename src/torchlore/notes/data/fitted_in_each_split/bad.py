import torch
from torch.utils.data import Dataset


class Texts(Dataset):
    def __init__(self, rows):
        words = sorted({word for row in rows for word in row.split()})
        self.vocab = {word: i for i, word in enumerate(words)}  # trap: fitted-in-each-split
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.tensor([self.vocab[word] for word in self.rows[i].split()])


train = Texts(["a quick brown fox", "the lazy dog"])
test = Texts(["the quick dog", "a dog"])
result = {"same_word": sum(train.vocab[w] == i for w, i in test.vocab.items()) / len(test.vocab)}
