def warm_up(optimizer, base, step, warm_steps):
    if step < warm_steps:
        for group in optimizer.param_groups:
            group["lr"] = base * (step + 1) / warm_steps


def train_epoch(model, optimizer, loader, args):
    for i, (x, y) in enumerate(loader):
        warm_up(optimizer, args.lr, i, args.warm_steps)  # trap: warmup-every-epoch
        optimizer.zero_grad()
        model(x, y).backward()
        optimizer.step()


def first_epoch_only(model, optimizer, loader, args, epoch):
    for i, (x, y) in enumerate(loader):
        if epoch == 0:
            warm_up(optimizer, args.lr, i, args.warm_steps)
        optimizer.zero_grad()
        model(x, y).backward()
        optimizer.step()


def over_the_epochs(model, optimizer, loader, args, epoch):
    for i, (x, y) in enumerate(loader):
        warm_up(optimizer, args.lr, epoch * len(loader) + i, args.warm_steps)
        optimizer.zero_grad()
        model(x, y).backward()
        optimizer.step()


def by_share(model, optimizer, loader, args):
    for _ in range(args.rounds):
        for i, (x, y) in enumerate(loader):
            lr = args.lr * min(1.0, (i + 1) / args.warmup)  # trap: warmup-every-epoch
            for group in optimizer.param_groups:
                group["lr"] = lr
            optimizer.zero_grad()
            model(x, y).backward()
            optimizer.step()


def once(model, optimizer, stream, args):
    for i, (x, y) in enumerate(stream):
        warm_up(optimizer, args.lr, i, args.warm_steps)
        optimizer.zero_grad()
        model(x, y).backward()
        optimizer.step()


def main(model, optimizer, loader, args):
    for epoch in range(args.epochs):
        train_epoch(model, optimizer, loader, args)
        first_epoch_only(model, optimizer, loader, args, epoch)
        over_the_epochs(model, optimizer, loader, args, epoch)
    once(model, optimizer, loader, args)
