import torch


@torch.no_grad()
def wrong(slow, net, decay=0.999):
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data = (1 - decay) * a.data + decay * b.data  # trap: ema-decay-swapped
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data.copy_(0.005 * a.data + 0.995 * b.data)  # trap: ema-decay-swapped
    for b, a in zip(net.parameters(), slow.parameters(), strict=True):
        a.lerp_(b, 0.99)  # trap: ema-decay-swapped
    for (_, a), (_, b) in zip(slow.named_parameters(), net.named_parameters(), strict=True):
        a.mul_(1 - decay).add_(decay * b.detach())  # trap: ema-decay-swapped


@torch.no_grad()
def right(slow, net, unknown, decay=0.999, tau=0.005):
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data = decay * a.data + (1 - decay) * b.data
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data.copy_(tau * b.data + (1.0 - tau) * a.data)
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.mul_(decay).add_(b, alpha=1 - decay)
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.lerp_(b, 1 - decay)
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data.copy_(b.data)
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data = unknown * a.data + (1 - unknown) * b.data


class Shadow:
    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = {name: param.data.clone() for name, param in model.named_parameters()}
        self.ema = model

    def update(self, model):
        for name, param in model.named_parameters():
            self.shadow[name] = self.decay * param.data + (1.0 - self.decay) * self.shadow[name]  # trap: ema-decay-swapped
        state = model.state_dict()
        for key, value in self.ema.state_dict().items():
            value.copy_(value * (1.0 - self.decay) + state[key].detach() * self.decay)  # trap: ema-decay-swapped

    def right(self, model):
        for name, param in model.named_parameters():
            self.shadow[name] = (1.0 - self.decay) * param.data + self.decay * self.shadow[name]


def away(shadow_params, parameters, one_minus_decay):
    for s_param, param in zip(shadow_params, parameters, strict=True):
        gap = s_param - param
        s_param.add_(gap * one_minus_decay)  # trap: ema-decay-swapped


def towards(shadow_params, parameters, one_minus_decay):
    for s_param, param in zip(shadow_params, parameters, strict=True):
        s_param.add_((param - s_param) * one_minus_decay)
    for s_param, param in zip(shadow_params, parameters, strict=True):
        s_param.sub_(one_minus_decay * (s_param - param))


def blended(image, overlay, alpha=0.95):
    image = (1 - alpha) * image + alpha * overlay
    return image


def follow(online, target, beta=0.99):
    for current, slow in zip(online.parameters(), target.parameters()):
        old, new = slow.data, current.data
        slow.data = old * (1 - beta) + new * beta  # trap: ema-decay-swapped


def follow_slowly(online, target, beta=0.99):
    for current, slow in zip(online.parameters(), target.parameters()):
        old, new = slow.data, current.data
        slow.data = old * beta + new * (1 - beta)


class Slow:
    def __init__(self, tau):
        self.tau = tau

    def update(self, online, slow):
        for op, sp in zip(online.parameters(), slow.parameters()):
            sp.data.mul_(self.tau).add_(op.data * (1 - self.tau))
        for ob, sb in zip(online.buffers(), slow.buffers()):
            if ob.is_floating_point():
                ob.data.mul_(self.tau)
                ob.data.add_(sb.data * (1 - self.tau))  # trap: ema-decay-swapped

    def right(self, online, slow):
        for op, sp in zip(online.parameters(), slow.parameters()):
            sp.data.mul_(self.tau).add_(op.data * (1 - self.tau))
        for ob, sb in zip(online.buffers(), slow.buffers()):
            sb.copy_(ob)


class Warm:
    def __init__(self, decay):
        self.decay = decay
        self.step = 0

    def update_ema(self, model, ema):
        self.step += 1
        ramp = (1 + self.step) / (10 + self.step)
        self.decay = min(self.decay, ramp)  # trap: ema-decay-swapped
        for s, p in zip(ema.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)

    def right_ema(self, model, ema):
        decay = min(self.decay, (1 + self.step) / (10 + self.step))
        for s, p in zip(ema.parameters(), model.parameters()):
            s.lerp_(p, 1 - decay)
