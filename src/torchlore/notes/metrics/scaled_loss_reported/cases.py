import torch


def clip(model):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def logged(model, loader, criterion, optimizer, scaler, amp, log):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss = scaler.scale(loss) if amp else loss
        optimizer.zero_grad()
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
        log(loss.item())  # trap: scaled-loss-reported


def right(model, loader, criterion, optimizer, scaler, log):
    for x, y in loader:
        loss = criterion(model(x), y)
        log(loss.item())
        scaled = scaler.scale(loss)
        optimizer.zero_grad()
        scaled.backward()
        scaler.step(optimizer)
        log(loss.item(), scaled.item() / scaler.get_scale())
        scaler.update()
