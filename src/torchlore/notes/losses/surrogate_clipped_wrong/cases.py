import torch


class Agent:
    def without_exp(self, logprobs, old_logprobs, adv):
        ratios = logprobs - old_logprobs.detach()  # trap: surrogate-clipped-wrong
        surr1 = ratios * adv
        surr2 = torch.clamp(ratios, 1 - self.eps_clip, 1 + self.eps_clip) * adv
        return -torch.min(surr1, surr2).mean()

    def larger(self, logp, old_logp, adv):
        ratio = (logp - old_logp).exp()
        surr1 = ratio * adv
        surr2 = ratio.clamp(1.0 - self.eps, 1.0 + self.eps) * adv
        return -torch.max(surr1, surr2).mean()  # trap: surrogate-clipped-wrong

    def by_quotient(self, pi, old_pi, adv):
        ratio = pi / old_pi
        surr = ratio * adv
        return -torch.min(surr, surr.clamp(1 - self.eps, 1 + self.eps)).mean()  # trap: surrogate-clipped-wrong

    def right(self, logp, old_logp, adv):
        log_ratio = logp - old_logp
        ratio = log_ratio.exp()
        pg1 = -adv * ratio
        pg2 = -adv * torch.clamp(ratio, 1 - self.eps, 1 + self.eps)
        return torch.max(pg1, pg2).mean()

    def right_too(self, logp, old_logp, adv):
        ratio = torch.exp(logp - old_logp)
        clip_adv = torch.clamp(ratio, 1 - self.eps, 1 + self.eps) * adv
        return -(torch.min(ratio * adv, clip_adv)).mean()

    def jitter(self, image, gain):
        return (image * gain).clamp(1 - self.eps, 1 + self.eps)


def always_one(policy, optimizer, states, actions, advantage, eps):
    for _ in range(4):
        logp = policy(states).log_prob(actions)
        before = logp.detach()  # trap: surrogate-clipped-wrong
        ratio = torch.exp(logp - before)
        loss = -torch.min(ratio * advantage, ratio.clamp(1 - eps, 1 + eps) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def once_a_batch(policy, optimizer, batches, eps):
    for states, actions, advantage in batches:
        logp = policy(states).log_prob(actions)
        ratio = torch.exp(logp - logp.detach())
        loss = -torch.min(ratio * advantage, ratio.clamp(1 - eps, 1 + eps) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Updated(torch.nn.Module):
    def __init__(self, net: torch.nn.Module, opt):
        super().__init__()
        self.net, self.opt = net, opt

    def again(self, obs, actions, adv, kept):
        for _ in range(4):
            with torch.no_grad():
                old = self.net(obs)[0].log_prob(actions)  # trap: surrogate-clipped-wrong
            dist, _ = self.net(obs)
            ratio = torch.exp(dist.log_prob(actions) - old)
            loss = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    def once(self, obs, actions, adv, kept):
        with torch.no_grad():
            old = self.net(obs)[0].log_prob(actions)
        for _ in range(4):
            dist, _ = self.net(obs)
            ratio = torch.exp(dist.log_prob(actions) - old)
            loss = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


def turned_round(pi, batch, adv, eps):
    new = pi(batch["s"]).log_prob(batch["a"])
    ratio = torch.exp(batch["old"] - new)  # trap: surrogate-clipped-wrong
    return -torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()


def of_negatives(old_neglogp, neglogp, adv, eps):
    ratio = torch.exp(old_neglogp - neglogp)
    return -torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()


def weighted(folded, new_logp, threshold, adv):
    ratio = (new_logp - folded).exp()
    return -torch.min(ratio * adv, ratio.clamp(1 - threshold, 1 + threshold) * adv).mean()
