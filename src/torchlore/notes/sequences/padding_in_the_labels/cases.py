import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, T5ForConditionalGeneration

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
t5 = T5ForConditionalGeneration.from_pretrained("t5-small")


def collate(texts):
    enc = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    enc["labels"] = enc["input_ids"].clone()  # trap: padding-in-the-labels
    return enc


def mapped(examples):
    model_inputs = tokenizer(examples["source"], padding="max_length", truncation=True)
    targets = tokenizer(examples["target"], padding="max_length", truncation=True)
    model_inputs["labels"] = targets["input_ids"]  # trap: padding-in-the-labels
    return model_inputs


class Texts(torch.utils.data.Dataset):
    def __init__(self, texts):
        self.texts = texts

    def __getitem__(self, index):
        enc = tokenizer(self.texts[index], padding="max_length", max_length=64, return_tensors="pt")
        ids = enc["input_ids"].squeeze(0)
        return {"input_ids": ids, "attention_mask": enc["attention_mask"].squeeze(0), "labels": ids}  # trap: padding-in-the-labels

    def __len__(self):
        return len(self.texts)


def one_text(text):
    enc = tokenizer(text, return_tensors="pt")
    return model(**enc, labels=enc["input_ids"]).loss


def classes(examples):
    enc = tokenizer(examples["text"], padding="max_length", truncation=True)
    enc["labels"] = examples["label"]
    return enc


def full_blocks(texts):
    ids = torch.cat([tokenizer(one, return_tensors="pt").input_ids[0] for one in texts])
    blocks = ids[: len(ids) // 64 * 64].view(-1, 64)
    return t5(input_ids=blocks, labels=blocks).loss
