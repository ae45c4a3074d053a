import math

import numpy as np
import torch


def accuracy(scores, model, path):
    best_acc = -math.inf
    for acc in scores:
        if acc < best_acc:  # trap: best-compared-the-wrong-way
            best_acc = acc
            torch.save(model.state_dict(), path)


def other_side(losses):
    lowest = np.inf
    for loss in losses:
        if lowest <= loss:  # trap: best-compared-the-wrong-way
            lowest = loss
    return lowest


def large_number(losses):
    min_loss = 1e10
    for loss in losses:
        if loss >= min_loss:  # trap: best-compared-the-wrong-way
            min_loss = loss
    return min_loss


def right(losses, scores):
    best, top, patience = float("inf"), -float("inf"), 0
    for loss, score in zip(losses, scores):
        if loss < best:
            best = loss
        if score > top:
            top = score
        if loss > best:
            patience += 1
    limit = float("inf")
    if len(losses) > limit:
        print("never")
    worst = 0.0
    for loss in losses:
        if loss > worst:
            worst = loss
    return best, top, patience, worst


def given(losses, best=float("inf")):
    for loss in losses:
        if loss > best:
            best = loss
    return best


def by_name(model, epochs, evaluate, save):
    best, best_acc = 0.0, 0.0
    for _ in range(epochs):
        val_loss, val_acc = evaluate(model)
        if val_loss > best:  # trap: best-compared-the-wrong-way
            best = val_loss
            save(model)
        if val_acc > best_acc:
            best_acc = val_acc
    return best, best_acc


def mse_loss(pred, label):
    return ((pred - label) ** 2).mean()


def keeps_the_worst(model, evaluate, epochs):
    kept = None
    best_score = float("inf")
    best_acc = float("inf")
    for _ in range(epochs):
        val_score = -mse_loss(*evaluate(model))
        acc = evaluate(model)[0]
        if val_score < best_score:  # trap: best-compared-the-wrong-way
            best_score = val_score
            kept = model
        if acc < best_acc:  # trap: best-compared-the-wrong-way
            best_acc = acc
    return kept


def turned_on_purpose(model, hits, epochs):
    best = float("inf")
    for _ in range(epochs):
        objective = -hits(model) / 100
        if objective < best:
            best = objective
    return best


class Runner:
    def __init__(self, model):
        self.model, self.best_loss, self.best_acc = model, 0.0, 0.0
        self.lowest = float("inf")

    def judge(self, val_loss, val_acc):
        if val_loss > self.best_loss:  # trap: best-compared-the-wrong-way
            self.best_loss = val_loss
            torch.save(self.model.state_dict(), "a.pt")
        if val_loss > self.lowest:  # trap: best-compared-the-wrong-way
            self.lowest = val_loss
        if val_acc > self.best_acc:
            self.best_acc = val_acc


def accuracy_from_zero(scores, model):
    best_acc, kept = 0.0, None
    for val_acc in scores:
        if val_acc < best_acc:  # trap: best-compared-the-wrong-way
            best_acc = val_acc
            kept = model.state_dict().copy()
    return kept


def the_worst_is_wanted(scores, runs):
    min_accuracy, worst_acc = 1.0, math.inf
    for accuracy in scores:
        if min_accuracy > accuracy:
            min_accuracy = accuracy
    for acc in runs:
        if acc < worst_acc:
            worst_acc = acc
    return min_accuracy, worst_acc


def either_way(metric, value, best, save):
    if ("loss" in metric and value < best) or value > best:  # trap: best-compared-the-wrong-way
        best = value
        save()
    if ("loss" in metric and value < best) or ("loss" not in metric and value > best):
        best = value
        save()
    return best
