from torch.utils.data import DataLoader


def wrong(val_set, test_set):
    val_dl = DataLoader(val_set, 64, drop_last=True)  # trap: drop-last-in-evaluation
    testloader = DataLoader(test_set, batch_size=64, shuffle=False, drop_last=True)  # trap: drop-last-in-evaluation
    return val_dl, testloader


class Trainer:
    def __init__(self, data):
        self.valid_loader = DataLoader(data, drop_last=True, batch_size=8)  # trap: drop-last-in-evaluation


def clean(train_set, test_set, drop):
    train_loader = DataLoader(train_set, 64, shuffle=True, drop_last=True)
    test_loader = DataLoader(test_set, 64, drop_last=False)
    eval_loader = DataLoader(test_set, 64, drop_last=drop)
    contest_loader = DataLoader(train_set, 64, shuffle=True, drop_last=True)
    latest = DataLoader(train_set, 64, shuffle=True, drop_last=True)
    return train_loader, test_loader, eval_loader, contest_loader, latest


def of_one(val_set):
    val_loader = DataLoader(val_set, batch_size=1, drop_last=True)
    valid_loader = DataLoader(val_set, drop_last=True)
    return val_loader, valid_loader


def drawn(data, sampler_of):
    valid_loader = DataLoader(data, batch_size=8, drop_last=True, sampler=sampler_of(data))
    return valid_loader


def a_few_to_look_at(data):
    val_loader = DataLoader(data, batch_size=8, shuffle=True, drop_last=True)
    batches = iter(val_loader)
    return [next(batches) for _ in range(2)]
