"""Other spellings of reused-numpy-buffer, and code that only looks like it."""
import numpy as np
import torch


def read(camera, file, n):
    frame = np.empty((4, 4), dtype=np.uint8)
    clips, table = [], {}
    for i in range(n):
        camera.readinto(frame)
        clips.append(torch.from_numpy(frame).permute(1, 0))  # trap: reused-numpy-buffer
    while file.more():
        frame.fill(file.next())
        table[file.name] = torch.as_tensor(frame)  # trap: reused-numpy-buffer
        frame[0] += 1
        clips.append(torch.from_numpy(frame))  # trap: reused-numpy-buffer
    return clips, table


# clean
def fine(camera, arrays, n, device):
    frame, out = np.empty((4, 4)), []
    for i in range(n):
        frame[:] = i
        out.append(torch.from_numpy(frame).clone())
        out.append(torch.from_numpy(frame.copy()))
        out.append(torch.tensor(frame))
        now = torch.from_numpy(frame)
        print(now.mean())
        out.append(torch.from_numpy(frame).to(device))
    for array in arrays:
        array[0] = 0
        out.append(torch.from_numpy(array))
    for i in range(n):
        own = np.zeros(3)
        own[0] = i
        out.append(torch.from_numpy(own))
    return out


class Game:
    def __init__(self):
        self.state = np.zeros(4, dtype=np.float32)
        self.score = np.zeros(2)

    def reset(self):
        self.state[:] = 0
        return self.state

    def step(self, action):
        self.state += action
        self.score = self.score + action
        return self.state, self.score


def collect(policy, steps):
    game = Game()
    states, scores, copies = [], [], []
    obs = game.reset()
    for _ in range(steps):
        state = torch.from_numpy(obs)  # trap: reused-numpy-buffer
        states.append(state)
        copies.append(obs.copy())
        obs, score = game.step(policy(state))
        scores.append(score)
    return states, scores, copies


def to_tensor(array):
    return torch.from_numpy(array)  # trap: reused-numpy-buffer


def to_copy(array):
    return torch.from_numpy(array.copy())


def remember(policy, steps):
    game, memory, copies, last = Game(), [], [], None
    for _ in range(steps):
        seen = to_tensor(game.reset())
        memory.append((last, policy(seen), seen))
        copies.append((last, to_copy(game.reset()), torch.tensor(game.reset())))
    return memory, copies


def transitions(steps):
    game, kept = Game(), []
    for action in range(steps):
        state, score = game.step(action)
        kept.append((torch.as_tensor(state), score, action))  # trap: reused-numpy-buffer
        kept.append((state.copy(), score, action))
    return kept
