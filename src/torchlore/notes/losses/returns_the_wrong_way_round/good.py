rewards, gamma = [0.0, 0.0, 1.0], 0.5
total, returns = 0.0, []
for reward in reversed(rewards):
    total = reward + gamma * total
    returns.insert(0, total)
result = {"returns": returns}
