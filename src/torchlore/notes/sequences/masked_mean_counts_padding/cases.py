import torch
import torch.nn.functional as F

PAD = 0


def sequence_mask(x, lengths):
    return (torch.arange(x.size(1))[None] < lengths[:, None]).to(x.dtype)


def by_token(logits, target):
    each = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")
    keep = (target != PAD).float()
    return torch.mean(each * keep)  # trap: masked-mean-counts-padding


def by_length(each, valid_len):
    weights = sequence_mask(each, valid_len)
    return (each * weights).mean(dim=1)  # trap: masked-mean-counts-padding


def pooled(hidden, attention_mask):
    return (hidden * attention_mask.unsqueeze(-1)).mean(1)  # trap: masked-mean-counts-padding


def right(each, target, hidden, attention_mask, lengths, pixels):
    keep = (target != PAD).float()
    a = (each * keep).sum() / keep.sum()
    b = (hidden * attention_mask.unsqueeze(-1)).sum(1) / attention_mask.sum(1, keepdim=True)
    c = (each * keep).mean() * keep.numel() / keep.sum()
    d = (pixels * (pixels > 0.5)).mean()
    e = each[keep.bool()].mean()
    mask = (torch.rand(4, 10) < 0.15).float()
    f = (each * mask).mean()
    return a, b, c, d, e, f


def token_mean(logits, targets, mask):
    nll = torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    return (nll * mask).mean()  # trap: masked-mean-counts-padding


def collated(n, longest):
    lens = torch.randint(3, longest, (n,))
    return torch.randint(0, 30, (n, longest)), torch.arange(longest)[None] < lens[:, None]


def language_model(net):
    ids, mask = collated(8, 16)
    token_mean(net(ids[:, :-1]), ids[:, 1:], mask[:, 1:]).backward()


def sure_ones(logits, targets, probs):  # FixMatch: the mean over all, on purpose
    mask = probs.max(1).values.ge(0.95).float()
    return (torch.nn.functional.cross_entropy(logits, targets, reduction="none") * mask).mean()


def pooled(hidden, attention_mask):
    return (hidden * attention_mask.unsqueeze(-1)).mean(1)  # trap: masked-mean-counts-padding


def right(each, target, hidden, attention_mask, lengths, pixels):
    keep = (target != PAD).float()
    a = (each * keep).sum() / keep.sum()
    b = (hidden * attention_mask.unsqueeze(-1)).sum(1) / attention_mask.sum(1, keepdim=True)
    c = (each * keep).mean() * keep.numel() / keep.sum()
    d = (pixels * (pixels > 0.5)).mean()
    e = each[keep.bool()].mean()
    mask = (torch.rand(4, 10) < 0.15).float()
    f = (each * mask).mean()
    return a, b, c, d, e, f


def token_mean(logits, targets, mask):
    nll = torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    return (nll * mask).mean()  # trap: masked-mean-counts-padding


def token_weights(logits, targets, weight):
    nll = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    return (nll * weight).mean()


def token_mean_of_words(logits, targets, mask):
    nll = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    return (nll * mask).sum() / mask.sum()


def pooled(hidden, keep):
    return (hidden * keep.unsqueeze(-1)).mean(dim=1)  # trap: masked-mean-counts-padding


def with_lengths(net, x, lens):
    keep = torch.arange(x.size(1))[None] < lens[:, None]
    return pooled(net(x), keep.float())


class Bag(torch.nn.Module):
    def __init__(self, words, pad):
        super().__init__()
        self.emb, self.plain = torch.nn.Embedding(words, 8, padding_idx=pad), torch.nn.Embedding(words, 8)
        self.enc = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, batch_first=True), 2)
        self.rnn, self.drop = torch.nn.GRU(8, 8, batch_first=True), torch.nn.Dropout(0.1)

    def forward(self, ids, lens):
        words = self.drop(self.emb(ids))
        known = self.enc(words, src_key_padding_mask=ids == PAD)
        packed = torch.nn.utils.rnn.pack_padded_sequence(words, lens, batch_first=True, enforce_sorted=False)
        states, _ = torch.nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        one = words.mean(1) + self.plain(ids).mean(1)  # trap: masked-mean-counts-padding
        two = torch.mean(known, dim=1)  # trap: masked-mean-counts-padding
        return one + two + states.mean(dim=1)  # trap: masked-mean-counts-padding

    def words_alone(self, ids):
        keep = (ids != PAD).unsqueeze(-1)
        return (self.emb(ids) * keep).sum(1) / keep.sum(1), self.emb(ids).mean(-1), self.emb(ids).max(1)


def sentences(bert, tokenizer, texts):
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    return bert(**inputs).last_hidden_state.mean(dim=1)  # trap: masked-mean-counts-padding
