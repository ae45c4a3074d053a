import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification

config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
with tempfile.TemporaryDirectory() as folder:
    BertForSequenceClassification(config).save_pretrained(folder)
    model = BertForSequenceClassification.from_pretrained(folder)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
ids, labels = torch.randint(0, 50, (4, 8)), torch.tensor([0, 1, 0, 1])

losses = []
model.train()
for _ in range(4):
    loss = model(input_ids=ids, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

result = {"dropped": float(max(losses) - min(losses) > 1e-4)}
