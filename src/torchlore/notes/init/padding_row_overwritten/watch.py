"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call, assignment

_SKIP_PADDING = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "LSTM", "GRU", "RNN")


def watch(call: Annotated[Call, "forward"]) -> Alarm | None:
    loaded = call.run.counts["Module.load_state_dict"] or call.run.counts["Embedding.from_pretrained"]
    if call.memory.setdefault("looked", 0) or loaded or call.run.steps:
        return None
    call.memory["looked"] = 1
    if any(type(layer).__name__ in _SKIP_PADDING for layer in call.owner.modules()):
        return None  # a mask or the lengths may keep the padding out
    for name, layer in call.owner.named_modules():
        torchs = type(layer).__module__ == "torch.nn.modules.sparse" and type(layer).__name__ == "Embedding"
        if not torchs or layer.padding_idx is None or layer.weight.device.type != "cpu":
            continue
        row, others = layer.weight[layer.padding_idx], layer.weight.detach().abs().mean()
        if bool(row.detach().abs().mean() > 0.2 * others) and bool(others > 0):
            above, _, attribute = name.rpartition(".")
            line = assignment(type(call.owner.get_submodule(above)), attribute) if attribute else None
            told = f"row {layer.padding_idx} of `{name}` is the padding, and it is not zero: something initialised the whole table"
            return Alarm(f"{told}; set that row to zero afterwards", at=line, certain=False)
    return None
