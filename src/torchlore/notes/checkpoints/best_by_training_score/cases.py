import copy

import torch


def fit(model, one_epoch, validate, epochs):
    best_acc, best_loss, best_train_acc = 0.0, float("inf"), 0.0
    patience = 5
    for _ in range(epochs):
        train_loss, train_acc = one_epoch(model)
        val_loss, val_acc = validate(model)
        if train_acc > best_acc:  # trap: best-by-training-score
            best_acc = train_acc
            torch.save(model.state_dict(), "best.pt")
        if train_acc > best_train_acc:
            best_train_acc = train_acc
            torch.save(model.state_dict(), "memorised.pt")
        if val_loss < best_loss:
            best_loss = val_loss
            patience = 5
        else:
            patience -= 1
        print(train_loss, val_acc)
    return model


def alone(model, one_epoch, epochs):
    best, kept = float("inf"), None
    for _ in range(epochs):
        train_loss = one_epoch(model)
        if train_loss < best:
            best = train_loss
            kept = copy.deepcopy(model.state_dict())
    return kept
