import torch
from torch import nn

encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2)
attention = nn.MultiheadAttention(8, 2, batch_first=True)
PAD_ID = 0


def bad(x, ids, lengths, pad_id):
    steps = torch.arange(ids.shape[1])
    keep = ids != PAD_ID
    a = encoder(x, src_key_padding_mask=keep)  # trap: padding-mask-inverted
    b = attention(x, x, x, key_padding_mask=(ids != pad_id))  # trap: padding-mask-inverted
    c = encoder(x, src_key_padding_mask=steps[None] < lengths[:, None])  # trap: padding-mask-inverted
    inside = lengths.unsqueeze(1) > steps
    d = attention(x, x, x, key_padding_mask=inside.bool())  # trap: padding-mask-inverted
    return a, b, c, d


def fine(x, ids, lengths, mask, attention_mask):
    steps = torch.arange(ids.shape[1])
    a = encoder(x, src_key_padding_mask=ids == PAD_ID)
    b = encoder(x, src_key_padding_mask=steps[None] >= lengths[:, None])
    valid = steps < lengths[:, None]
    c = attention(x, x, x, key_padding_mask=~valid)
    d = encoder(x, src_key_padding_mask=mask)
    e = attention(x, x, x, key_padding_mask=None)
    f = attention(x, x, x, key_padding_mask=attention_mask == 0)
    return a, b, c, d, e, f


PAD_ID = 0


def by_number(encoder, ids, tokenizer, text):
    mask = ids != 0
    a = encoder(ids, src_key_padding_mask=mask)  # trap: padding-mask-inverted
    b = encoder(ids, src_key_padding_mask=ids == 0)
    batch = tokenizer(text)
    c = encoder(batch["input_ids"], src_key_padding_mask=batch["attention_mask"].bool())  # trap: padding-mask-inverted
    d = encoder(batch["input_ids"], src_key_padding_mask=~batch["attention_mask"].bool())
    e = encoder(batch["input_ids"], src_key_padding_mask=batch["attention_mask"] == 0)
    return a, b, c, d, e


class AsNumbers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, ids):
        padding = (ids == 0).float()
        seen, _ = self.attention(x, x, x, key_padding_mask=padding)  # trap: padding-mask-inverted
        hidden = torch.zeros(ids.shape).masked_fill(ids == 0, float("-inf"))
        return seen + self.attention(x, x, x, key_padding_mask=hidden)[0] + self.attention(x, x, x, key_padding_mask=ids == 0)[0]


def pooled(q, k, v, is_pad, ids, PAD):
    a = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=is_pad[:, None, None, :])  # trap: padding-mask-inverted
    hidden = ids == PAD
    b = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=hidden[:, None])  # trap: padding-mask-inverted
    c = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=~is_pad[:, None])
    words = ids != PAD
    return a + b + c + torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=words[:, None])
