import torch
import torch.nn.functional as F


class Agent:
    def update(self, batch):
        states, actions, rewards, next_states, dones = batch
        dones = torch.as_tensor(dones, dtype=torch.float32)
        q = self.net(states).gather(1, actions)
        next_q = self.target_net(next_states).max(1)[0].detach()
        expected_q = rewards.squeeze(1) + self.gamma * next_q  # trap: terminal-state-bootstrapped
        return F.mse_loss(q.squeeze(1), expected_q)

    def masked(self, states, actions, rewards, next_states, dones):
        next_q = self.target_net(next_states).max(1)[0]
        next_q[dones] = 0.0
        return rewards + self.gamma * next_q

    def chosen(self, reward, next_state, done):
        if done:
            return reward
        return reward + self.gamma * self.value(next_state)

    def endless(self, states, rewards, next_states):
        return rewards + self.gamma * self.value(next_states)

    def returns(self, rewards, next_value, masks):
        total, found = next_value, []
        for step in reversed(range(len(rewards))):
            total = rewards[step] + self.gamma * total * masks[step]
            found.insert(0, total)
        return found
