"""Other spellings of same-tensor-appended, and code that only looks like it."""
from collections import deque

import numpy as np
import torch


def record(env, n):
    state, buffer = np.zeros(4), deque()
    hidden, history = torch.zeros(3), []
    for step in range(n):
        buffer.append((state, step))  # trap: same-tensor-appended
        state[0] = env.move()
        hidden.mul_(0.9)
        history.append(hidden)  # trap: same-tensor-appended
    noise = torch.rand(2)
    while len(history) < 10:
        history.append(noise)  # trap: same-tensor-appended
        noise *= 2
    return buffer, history


# clean
def fine(n, rows):
    x, out = torch.zeros(2), []
    for i in range(n):
        out.append(x)
        x = x + 1
    y = torch.zeros(2)
    for i in range(n):
        y += 1
        out.append(y.clone())
    total = 0
    for i in range(n):
        out.append(total)
        total += 1
    for row in rows:
        z = torch.zeros(2)
        z += row
        out.append(z)
    w = torch.zeros(1)
    for row in rows:
        w += row
    out.append(w)
    return out


def multiplied(n, xs):
    sums = [torch.zeros(3)] * n  # trap: same-tensor-appended
    best = [torch.zeros(3)] * n
    rows = [torch.zeros(3) for _ in range(n)]
    counts = [0] * n
    for i, x in enumerate(xs):
        sums[i] += x
        best[i] = x
        rows[i] += x
        counts[i] += 1
    return sums, best, rows, counts


class World:
    def __init__(self):
        self.place = torch.zeros(2)

    def step(self, move):
        self.place += move
        return self.place, self.place.sum().item()

    def walk(self, move):
        self.place = self.place + move
        return self.place, 0.0

    def copied(self, move):
        self.place += move
        return self.place.clone(), 0.0


def collect(moves):
    world, seen = World(), []
    for move in moves:
        place, reward = world.step(move)
        seen.append((place, reward))  # trap: same-tensor-appended
        place, reward = world.walk(move)
        seen.append((place, reward))
        place, reward = world.copied(move)
        seen.append((place, reward))
    return seen


class Recorder:
    def __init__(self):
        self.frames, self.gains, self.library = [], [], []

    def close(self):
        self.library.append((self.frames, self.gains))  # trap: same-tensor-appended
        self.frames.clear()

    def fine(self):
        self.library.append((list(self.frames), self.gains[:]))
        self.frames.clear()
        self.library.append(self.gains)
        self.gains = []
        self.gains.clear()


def tally(sums, i, x):
    sums[i] += x


def put(sums, i, x):
    sums[i] = x


def summed(n, pairs):
    sums = [torch.zeros(3)] * n  # trap: same-tensor-appended
    last = [torch.zeros(3)] * n
    for i, x in pairs:
        tally(sums, i, x)
        put(last, i, x)
    return sums, last


class Memory:
    def __init__(self):
        self.rows = []

    def push(self, *row):
        self.rows.append(row)


def remember(moves):
    world, memory = World(), Memory()
    for move in moves:
        place, reward = world.step(move)
        memory.push(place, reward)  # trap: same-tensor-appended
        place, reward = world.copied(move)
        memory.push(place, reward)


class Room:
    def __init__(self):
        self.seen = np.zeros(4, dtype=np.float32)

    def step(self, action):
        self.seen[action] = 1
        return self.seen, 0.0

    def fresh(self, action):
        self.seen = np.zeros(4, dtype=np.float32)
        self.seen[action] = 1
        return self.seen, 0.0


def play(room, memory):
    room = Room()
    for action in range(4):
        after, reward = room.step(action)
        memory.append((after, reward))  # trap: same-tensor-appended
        again, reward = room.fresh(action)
        memory.append((again, reward))


def path(field, steps):
    x = torch.zeros(2)
    points, moved = [], []
    for _ in range(steps):
        x += 0.1 * field(x)
        points.append(x)  # trap: same-tensor-appended
        y = x + 1
        y += 0.1
        moved.append(y)
    return points, moved


def capital_of(returns):
    capital, history = 100.0, []
    for one in np.array(returns):
        capital *= 1 + one
        history.append(capital)
    return history
