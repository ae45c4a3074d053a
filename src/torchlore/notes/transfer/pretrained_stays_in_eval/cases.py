import torch
from torch.optim import AdamW
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2).to("cuda")
language = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")


def fine_tuned(loader, epochs):
    optimizer = AdamW(model.parameters(), lr=2e-5)
    for _ in range(epochs):
        for batch in loader:
            out = model(**batch)  # trap: pretrained-stays-in-eval
            out.loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def without_dropout(loader):
    optimizer = AdamW(language.parameters(), lr=2e-5)
    for batch in loader:
        loss = language(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def measured(loader):
    with torch.no_grad():
        return [model(**batch).logits for batch in loader]
