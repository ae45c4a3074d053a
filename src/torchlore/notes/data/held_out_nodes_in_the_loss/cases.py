import torch
from torch.nn import functional as F


def citations(model, features, adjacency, labels, idx_train, idx_test, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        output = model(features, adjacency)
        loss = F.nll_loss(output, labels)  # trap: held-out-nodes-in-the-loss
        loss.backward()
        optimizer.step()
    model.eval()
    output = model(features, adjacency)
    return F.nll_loss(output[idx_test], labels[idx_test])


def cut(model, features, adjacency, labels, idx_train, idx_test, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        optimizer.zero_grad()
        output = model(features, adjacency)
        F.nll_loss(output[idx_train], labels[idx_train]).backward()
        optimizer.step()
    return F.nll_loss(model(features, adjacency)[idx_test], labels[idx_test])


def batches(model, loader, whole, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for graph in loader:
            optimizer.zero_grad()
            out = model(graph)
            F.cross_entropy(out, graph.y).backward()
            optimizer.step()
    return model(whole)[whole.test_mask] == whole.y[whole.test_mask]


def weighted(model, graph, loss_of, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_of(model(graph), graph.y, graph.train_mask)
        loss.backward()
        optimizer.step()
    return model(graph)[graph.test_mask] == graph.y[graph.test_mask]
