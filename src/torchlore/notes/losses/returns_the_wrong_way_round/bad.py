rewards, gamma = [0.0, 0.0, 1.0], 0.5
total, returns = 0.0, []
for reward in rewards:  # trap: returns-the-wrong-way-round
    total = reward + gamma * total
    returns.append(total)
result = {"returns": returns}
