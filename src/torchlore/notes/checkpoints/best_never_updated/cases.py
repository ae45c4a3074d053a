import copy
import math

import torch


def state_kept(model, train, evaluate):
    best_acc = 0.0
    best = None
    for epoch in range(10):
        train(model)
        acc = evaluate(model)
        if acc > best_acc:  # trap: best-never-updated
            best = copy.deepcopy(model.state_dict())
    return best


class Trainer:
    def __init__(self):
        self.best_score = -math.inf
        self.best_loss = math.inf

    def fit(self, model, evaluate, path):
        for epoch in range(10):
            score = evaluate(model)
            if self.best_score < score:  # trap: best-never-updated
                torch.save(model.state_dict(), path)

    def stored(self, model, evaluate, path):
        for epoch in range(10):
            loss = evaluate(model)
            if loss < self.best_loss:
                self.best_loss = loss
                torch.save(model.state_dict(), path)


def stored_elsewhere(model, evaluate, path):
    best_loss = math.inf
    for epoch in range(10):
        loss = evaluate(model)
        if loss < best_loss:
            torch.save(model.state_dict(), path)
        best_loss = min(loss, best_loss)


def a_fixed_bar(model, evaluate, path, best_known):
    threshold = 0.5
    for epoch in range(10):
        loss = evaluate(model)
        if loss < threshold:
            torch.save(model.state_dict(), path)
        if loss < best_known:
            torch.save(model.state_dict(), path)


def returned(model, evaluate, path):
    best_loss = math.inf
    loss = evaluate(model)
    if loss < best_loss:
        torch.save(model.state_dict(), path)
    return loss


def previous(model, evaluate, path):
    min_loss = math.inf
    for epoch in range(10):
        val_loss = evaluate(model)
        if val_loss < min_loss:
            torch.save(model.state_dict(), path)
        min_loss = val_loss  # trap: best-never-updated


class Keeper:
    def __init__(self, folder):
        self.path = folder + "/best.pt"
        self.last = folder + "/last.pt"
        self.best_loss = float("inf")

    def save(self, model, loss):
        if loss < self.best_loss:
            self.best_loss = loss
            print("better")
        torch.save(model.state_dict(), self.path)  # trap: best-never-updated

    def right(self, model, loss):
        if loss < self.best_loss:
            self.best_loss = loss
        torch.save(model.state_dict(), self.last)

    def early(self, model, loss):
        if loss > self.best_loss:
            return
        self.best_loss = loss
        torch.save(model.state_dict(), self.path)


def asked_too_late(model, evaluate, save):
    best_acc = 0.0
    for epoch in range(10):
        acc = evaluate(model)
        best_acc = max(acc, best_acc)
        is_best = acc > best_acc  # trap: best-never-updated
        save(model, is_best)


def asked_in_time(model, evaluate, save):
    best_acc = 0.0
    for epoch in range(10):
        acc = evaluate(model)
        is_best = acc > best_acc
        best_acc = max(acc, best_acc)
        save(model, is_best)


class Stopper:
    def __init__(self, patience):
        self.patience, self.waited, self.best = patience, 0, float("inf")

    def __call__(self, loss):
        if loss < self.best:
            self.best = loss  # trap: best-never-updated
        else:
            self.waited += 1
        return self.waited >= self.patience


class Patient:
    def __init__(self, patience):
        self.patience, self.waited, self.best = patience, 0, float("inf")

    def __call__(self, loss):
        if loss < self.best:
            self.best = loss
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience


def begun_in_one_line(model, evaluate):
    best_loss, best_weights, seen = float("inf"), None, []
    for epoch in range(10):
        seen.append(evaluate(model))
        if seen[-1] < best_loss:  # trap: best-never-updated
            best_weights = {name: one.clone() for name, one in model.state_dict().items()}
    model.load_state_dict(best_weights)


def asked_under_a_name(model, evaluate, warm):
    best_acc, kept = 0.0, None
    for epoch in range(10):
        acc = evaluate(model)
        better = acc > best_acc  # trap: best-never-updated
        if better:
            torch.save(model.state_dict(), "kept.pt")
        if epoch > warm and acc > best_acc:  # trap: best-never-updated
            kept = copy.deepcopy(model.state_dict())
    return kept


class Keeper:
    def __init__(self, path):
        self.lowest_loss, self.path = float("inf"), path

    def __call__(self, model, loss):
        if loss < self.lowest_loss:  # trap: best-never-updated
            torch.save(model.state_dict(), self.path)


class GoodKeeper:
    def __init__(self, path):
        self.top_best, self.path = float("inf"), path

    def __call__(self, model, loss):
        if loss < self.top_best:
            self.top_best, self.path = loss, self.path
            torch.save(model.state_dict(), self.path)


def stored_with_the_weights(model, evaluate):
    best_loss, best_weights = float("inf"), None
    for epoch in range(10):
        loss = evaluate(model)
        if loss < best_loss:
            best_loss, best_weights = loss, copy.deepcopy(model.state_dict())
    return best_weights
