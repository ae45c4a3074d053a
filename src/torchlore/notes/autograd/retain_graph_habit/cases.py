import torch


def train(model, loader, optimizer, criterion):
    hidden = None
    for x, y in loader:
        out, hidden = model(x, hidden)
        loss = criterion(out, y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # trap: retain-graph-habit
        optimizer.step()
