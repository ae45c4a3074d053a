import torch


def wrong(args, model, optimizer, loader, evaluate):
    best_loss = float("inf")
    begin = 0
    if args.resume:
        state = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optim"])
        begin = state["epoch"]  # trap: best-score-lost-on-resume
    for epoch in range(begin, args.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        loss = evaluate(model)
        if loss < best_loss:
            best_loss = loss
            torch.save(model.state_dict(), "best.pt")


def right(args, model, optimizer, loader, evaluate):
    best_loss = float("inf")
    begin = 0
    if args.resume:
        state = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optim"])
        begin = state["epoch"]
        best_loss = state.get("best", best_loss)
    for epoch in range(begin, args.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        loss = evaluate(model)
        if loss < best_loss:
            best_loss = loss
            torch.save(model.state_dict(), "best.pt")


def finetuned(args, model, optimizer, loader, evaluate):
    best_loss = float("inf")
    model.load_state_dict(torch.load(args.weights, map_location="cpu")["model"])
    for _ in range(args.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        loss = evaluate(model)
        if loss < best_loss:
            best_loss = loss
            torch.save(model.state_dict(), "best.pt")


def read_back(path, net, optimizer):
    saved = torch.load(path, map_location="cpu")
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    start_epoch = saved["last_epoch"] + 1  # trap: best-score-lost-on-resume
    return start_epoch


def fit_again(path, net, optimizer, train, test):
    first = read_back(path, net, optimizer)
    best_score = 0.0
    for epoch in range(first, 10):
        train(net, optimizer)
        score = test(net)
        if score > best_score:
            best_score = score
            torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "last_epoch": epoch}, path)


class Manager:
    def __init__(self, model, path=None):
        self.model = model
        self.seen = 0
        if path is not None:
            self.load(path)
        self.steps = 0  # trap: best-score-lost-on-resume
        self.best = float("inf")  # trap: best-score-lost-on-resume
        self.name = "run"

    def load(self, path):
        state = torch.load(path, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.steps = state["steps"]
        self.best = state["best"]
        self.seen = state["seen"]
