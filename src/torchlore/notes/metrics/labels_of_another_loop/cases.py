import torch


def fit(model, criterion, optimizer, train_loader, val_loader, device):
    for step, (images, labels) in enumerate(train_loader):
        images = images.to(device)
        labels = labels.to(device)
        optimizer.zero_grad()
        criterion(model(images), labels).backward()
        optimizer.step()
        if step % 100 == 0:
            with torch.no_grad():
                for images_val, labels_val in val_loader:
                    outputs = model(images_val.to(device))
                    print(criterion(input=outputs, target=labels))  # trap: labels-of-another-loop
                    print(len(labels_val))


def right(model, criterion, train_loader, val_loader):
    for images, labels in train_loader:
        print(criterion(model(images), labels))
    for images_val, labels_val in val_loader:
        labels = labels_val.long()
        print(criterion(model(images_val), labels))


def compared(embed, train_loader, test_loader):
    for x, y in train_loader:
        for x_test, y_test in test_loader:
            print(torch.cdist(embed(x), embed(x_test)), y, y_test)


def left_over(model, train_loader, val_loader, optimizer, criterion, epochs):
    for _ in range(epochs):
        for x, y in train_loader:
            optimizer.zero_grad()
            out = model(x)
            loss = criterion(out, y)
            loss.backward()
            optimizer.step()
        total, right, losses = 0.0, 0, []
        model.eval()
        with torch.no_grad():
            for x, y in val_loader:
                val_out = model(x)
                val_loss = criterion(val_out, y)
                total += loss.item()  # trap: labels-of-another-loop
                right += (out.argmax(1) == y).sum().item()  # trap: labels-of-another-loop
                losses.append(val_loss.item())
                print("train", loss.item(), "val", val_loss.item())
        model.train()
        with torch.no_grad():
            for x, y in val_loader:
                out = model(x)
                loss = criterion(out, y)
                total += loss.item()
                right += (out.argmax(1) == y).sum().item()
        print(total, right)
