import torch
import torch.nn.functional as F
from torch import nn


class Agent:
    def __init__(self, n, m, discount):
        self.policy = nn.Sequential(nn.Linear(n, 64), nn.ReLU(), nn.Linear(64, m))
        self.frozen = nn.Sequential(nn.Linear(n, 64), nn.ReLU(), nn.Linear(64, m))
        self.discount = discount
        self.optimizer = torch.optim.RMSprop(self.policy.parameters())
        self.criterion = nn.SmoothL1Loss()

    def learn(self, state, action, reward, later, alive):
        value = self.policy(state).gather(1, action.unsqueeze(1)).squeeze(1)
        best = self.policy(later).max(dim=1).values  # trap: bootstrap-target-attached
        expected = reward + self.discount * alive * best
        self.finish(self.criterion(value, expected))

    def double(self, state, action, reward, later, alive):
        value = self.policy(state).gather(1, action.unsqueeze(1))
        chosen = self.policy(later).argmax(1, keepdim=True)
        expected = reward + self.discount * alive * self.frozen(later).gather(1, chosen)
        self.finish(self.criterion(value, expected))

    def double_by_max(self, state, action, reward, later, alive):
        value = self.policy(state).gather(1, action.unsqueeze(1))
        scores = self.policy(later)
        best = self.frozen(later).gather(1, torch.max(scores, 1)[1].unsqueeze(1))
        self.finish(self.criterion(value, reward + self.discount * alive * best))

    def detached(self, state, action, reward, later, alive):
        value = self.policy(state).gather(1, action.unsqueeze(1)).squeeze(1)
        best = self.policy(later).max(1)[0].detach()
        self.finish(self.criterion(value, reward + self.discount * alive * best))
        expected = reward + self.discount * alive * self.policy(later).max(1)[0]
        self.finish(self.criterion(value, expected.detach()))

    @torch.no_grad()
    def target(self, reward, later):
        return reward + self.discount * self.policy(later).max(1)[0]

    def through_a_method(self, state, action, reward, later):
        self.finish(self.criterion(self.policy(state).gather(1, action), self.target(reward, later)))

    def finish(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)


class ByForward:
    def __init__(self):
        self.now, self.frozen = Net(), Net()
        self.gamma, self.loss = 0.99, nn.MSELoss()

    def other(self, s, r, later):
        value = self.now.forward(s).max(1)[0]  # trap: forward-called-directly
        target = r + self.gamma * self.frozen.forward(later).max(1)[0]  # trap: forward-called-directly
        return self.loss(value, target)


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 1)

    def v(self, x):
        return self.head(torch.relu(self.body(x)))

    def wrong(self, s, r, later, gamma=0.98):
        goal = r + gamma * self.v(later)  # trap: bootstrap-target-attached
        return F.smooth_l1_loss(self.v(s), goal)

    def delta(self, s, r, later):
        delta = r + 0.9 * self.v(later) - self.v(s)  # trap: bootstrap-target-attached
        return delta.pow(2).mean()

    def right(self, s, r, later, gamma=0.98):
        goal = r + gamma * self.v(later)
        advantage = goal - self.v(s)
        return F.smooth_l1_loss(self.v(s), goal.detach()) - advantage.detach().mean()


def reconstruction(autoencoder, x, gamma=0.5):
    return F.mse_loss(autoencoder(x), x + gamma * torch.randn_like(x))


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(4, 2)

    def evaluate(self, x, action):
        return torch.distributions.Categorical(logits=self.actor(x)).log_prob(action), self.actor(x)

    @torch.no_grad()
    def recall(self, x, action):
        return torch.distributions.Categorical(logits=self.actor(x)).log_prob(action)


def ratio(x, action, advantage):
    policy = Policy()
    old_logp, _ = policy.evaluate(x, action)  # trap: bootstrap-target-attached
    new_logp, _ = policy.evaluate(x, action)
    return -(torch.exp(new_logp - old_logp) * advantage).mean()


def ratio_of_constants(x, action, advantage, old_logp):
    policy = Policy()
    new_logp, _ = policy.evaluate(x, action)
    old_too = policy.recall(x, action)
    old_cut = policy.evaluate(x, action)[0].detach()
    ratios = (new_logp - old_logp).exp() + (new_logp - old_too).exp() + (new_logp - old_cut).exp()
    return -(ratios * advantage).mean()


def consistent(model, weak, strong):
    logits = model(torch.cat([weak, strong]))
    one, other = logits.chunk(2)
    pseudo_label = torch.softmax(one / 0.5, dim=1)  # trap: bootstrap-target-attached
    return F.kl_div(F.log_softmax(other, dim=1), pseudo_label, reduction="batchmean")


def consistent_right(model, weak, strong, teacher):
    logits = model(strong)
    pseudo_label = torch.softmax(model(weak).detach(), dim=1)
    with torch.no_grad():
        target = torch.softmax(model(weak), dim=1)
    teacher_label = torch.softmax(teacher(weak), dim=1)
    losses = [F.cross_entropy(logits, one) for one in (pseudo_label, target)]
    return sum(losses) + F.cross_entropy(logits, pseudo_label) + F.cross_entropy(logits, teacher_label)


def both_ways(model, x):
    one, other = model(x), model(x)
    p, q = one.softmax(1), other.softmax(1)
    there = F.kl_div(one.log_softmax(1), q, reduction="batchmean")
    return there + F.kl_div(other.log_softmax(1), p, reduction="batchmean")


def distill(batches, loss_of):
    student, teacher = nn.Linear(4, 2), nn.Linear(4, 2)
    optimizer = torch.optim.Adam([*student.parameters(), *teacher.parameters()])
    for x in batches:
        soft = teacher(x)  # trap: bootstrap-target-attached
        loss = loss_of(student(x), soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def distill_well(batches, loss_of):
    student, old_teacher = nn.Linear(4, 2), nn.Linear(4, 2)
    optimizer = torch.optim.Adam([*student.parameters(), *old_teacher.parameters()])
    for x in batches:
        with torch.no_grad():
            soft = old_teacher(x)
        loss = loss_of(student(x), soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def distance(p, z):
    return -F.cosine_similarity(p, z, dim=1).mean()  # trap: bootstrap-target-attached


def distance_well(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


def siamese(encoder, predictor, one, other):
    z1, z2 = encoder(one), encoder(other)
    p1, p2 = predictor(z1), predictor(z2)
    return distance(p1, z2) / 2 + distance(p2, z1) / 2, distance_well(p1, z2) / 2 + distance_well(p2, z1) / 2


class Clipped(nn.Linear):
    def forward(self, x, old=False):
        return self.before(x) if old else super().forward(x)


def right_again(states, gain, reward, gamma):
    policy, critic = Clipped(4, 2), nn.Linear(4, 1)
    log_prob_old = policy(states, old=True).log_softmax(1)
    ratio = torch.exp(policy(states).log_softmax(1) - log_prob_old)
    value = critic(states)
    with torch.no_grad():
        target = reward[:-1] + gamma * value[1:]
    return (ratio * gain).mean() + F.smooth_l1_loss(value[:-1], target)
