import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer


def wrong(vectors, path):
    table = nn.Embedding(10, 4)
    table.from_pretrained(vectors, freeze=False)  # trap: from-pretrained-discarded
    nn.EmbeddingBag.from_pretrained(vectors)  # trap: from-pretrained-discarded
    AutoModel.from_pretrained(path)  # trap: from-pretrained-discarded
    return table


def clean(vectors, path, names):
    table = nn.Embedding.from_pretrained(vectors)
    model = AutoModel.from_pretrained(path)
    both = [AutoModel.from_pretrained(name) for name in names]
    print(AutoTokenizer.from_pretrained(path))
    return table, model, both


def known(path):
    try:
        AutoModel.from_pretrained(path)
    except KeyError:
        return False
    return True


def first_on_one_rank(path, rank, barrier):
    if rank == 0:
        AutoTokenizer.from_pretrained(path)
    barrier()
    return AutoTokenizer.from_pretrained(path)


class Graphs(nn.Module):
    def from_pretrained(self, path):
        self.load_state_dict(torch.load(path, map_location="cpu"))


def loads_into_itself(path):
    graphs = Graphs()
    graphs.from_pretrained(path)
    return graphs
