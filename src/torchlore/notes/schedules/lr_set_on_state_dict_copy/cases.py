import torch


def wrong(optimizer: torch.optim.Optimizer, lr):
    optimizer.state_dict()["param_groups"][0]["lr"] = lr  # trap: lr-set-on-state-dict-copy
    optimizer.state_dict()["param_groups"][1]["weight_decay"] *= 2  # trap: lr-set-on-state-dict-copy
    for group in optimizer.state_dict()["param_groups"]:  # trap: lr-set-on-state-dict-copy
        print(group["lr"])
        group["momentum"] = 0.9


def clean(optimizer: torch.optim.Optimizer, lr):
    print(optimizer.state_dict()["param_groups"][0]["lr"])
    rates = [group["lr"] for group in optimizer.state_dict()["param_groups"]]
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = lr
    optimizer.load_state_dict(state)
    for group in optimizer.param_groups:
        group["lr"] = lr
    for group in optimizer.state_dict()["param_groups"]:
        rates.append(group["lr"])
    return rates


def through_a_name(optimizer, lr):
    groups = optimizer.state_dict()["param_groups"]  # trap: lr-set-on-state-dict-copy
    for group in groups:
        group["lr"] = lr


def real(optimizer, lr):
    groups = optimizer.param_groups
    for group in groups:
        group["lr"] = lr
    shown = optimizer.state_dict()["param_groups"]
    for group in shown:
        print(group["lr"])


def only_read(optimizer):
    start = optimizer.state_dict()["param_groups"][0]["lr"]
    return start


def two_groups(net, head, rates):
    opt = torch.optim.SGD([{"params": net.parameters()}, {"params": head.parameters()}], lr=0.1)
    for rate in rates:
        opt.param_groups[0]["lr"] = rate  # trap: lr-set-on-state-dict-copy
        opt.step()


def one_group(net, rates):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for rate in rates:
        opt.param_groups[0]["lr"] = rate
        opt.step()


def rates_of_their_own(net, head, rates):
    opt = torch.optim.SGD([{"params": net.parameters(), "lr": 0.1}, {"params": head.parameters(), "lr": 1.0}])
    for rate in rates:
        opt.param_groups[0]["lr"] = rate
        opt.step()
