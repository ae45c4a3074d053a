from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR


def by_settings(model, loader, criterion, optimizer, args):
    t_total = len(loader) // args.gradient_accumulation_steps * args.epochs
    scheduler = LambdaLR(optimizer, lambda step: 1 - step / t_total)
    for _ in range(args.epochs):
        for step, (x, y) in enumerate(loader):
            loss = criterion(model(x), y) / args.gradient_accumulation_steps
            loss.backward()
            if (step + 1) % args.gradient_accumulation_steps == 0:
                optimizer.step()
                optimizer.zero_grad()
            scheduler.step()  # trap: scheduler-per-micro-batch


def in_batches(model, loader, criterion, optimizer, accum, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / accum
        loss.backward()
        if (i + 1) % accum == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()


def together(model, loader, criterion, optimizer, accum, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs * len(loader) // accum)
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / accum
        loss.backward()
        if (i + 1) % accum == 0:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()


def linear(optimizer, warm, total):
    return LambdaLR(optimizer, lambda step: min(step / warm, (total - step) / (total - warm)))


def told_the_batches(net, optimizer, loader, epochs):
    total = len(loader) * epochs
    sched = linear(optimizer, 10, total)  # trap: scheduler-per-micro-batch
    for _ in range(epochs):
        for i, (x, y) in enumerate(loader):
            ((net(x) - y).pow(2).mean() / 8).backward()
            if (i + 1) % 8 == 0:
                optimizer.step()
                sched.step()
                optimizer.zero_grad()


def told_the_updates(net, optimizer, loader, epochs):
    total = len(loader) // 4 * epochs
    sched = linear(optimizer, 10, total)
    for _ in range(epochs):
        for i, (x, y) in enumerate(loader):
            ((net(x) - y).pow(2).mean() / 4).backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
                sched.step()
                optimizer.zero_grad()
