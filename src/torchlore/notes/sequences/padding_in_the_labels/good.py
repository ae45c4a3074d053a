import warnings

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

warnings.simplefilter("ignore")
END = "<end>"
words = Tokenizer(models.WordLevel({END: 0, "a": 1, "b": 2}, unk_token=END))
words.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token=END)
config = GPT2Config(vocab_size=3, n_positions=8, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config).eval()
texts = ["a b a b a b", "a b"]

with torch.no_grad():
    batch = tokenizer(texts, padding=True, return_tensors="pt", return_token_type_ids=False)
    batch["labels"] = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    together = model(**batch).loss.item()
    alone = 0.0
    for text in texts:
        ids = tokenizer(text, return_tensors="pt").input_ids
        alone += model(ids, labels=ids).loss.item() * (ids.numel() - 1)

result = {"by_padding": abs(together - alone / 6)}  # words to be predicted: five and one
