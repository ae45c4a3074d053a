import torch


def left_reversed(rewards, gamma=0.99):
    R, returns = 0, []
    for r in reversed(rewards):
        R = r + gamma * R
        returns.append(R)  # trap: returns-the-wrong-way-round
    return torch.tensor(returns)


class Agent:
    def forwards(self):
        R, returns = 0.0, []
        for r in self.rewards:  # trap: returns-the-wrong-way-round
            R = r + self.gamma * R
            returns.append(R)
        return torch.tensor(returns)

    def turned_back(self):
        R, returns = 0.0, []
        for r in self.rewards[::-1]:
            R = r + self.gamma * R
            returns.append(R)
        return torch.tensor(returns[::-1])

    def inserted(self):
        R, returns = 0.0, []
        for r in reversed(self.rewards):
            R = self.gamma * R + r
            returns.insert(0, R)
        return returns

    def traced(self, errors):
        trace, kept = 0.0, []
        for e in errors:
            trace = e + self.gamma * trace
            kept.append(trace)
        return kept
