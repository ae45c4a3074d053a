"""Libraries that own the training loop: they zero, step, move and switch modes themselves, so rules stay silent there."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import ast

    from torchlore.check.source import Source

_ROOTS = {
    "lightning": "lightning", "pytorch_lightning": "lightning", "lightning_fabric": "lightning",
    "accelerate": "accelerate", "ignite": "ignite", "fastai": "fastai", "mmengine": "mmengine", "mmcv": "mmengine",
    "skorch": "skorch", "composer": "composer", "deepspeed": "deepspeed", "catalyst": "catalyst",
    "pytorch_accelerated": "accelerate", "sentence_transformers": "transformers", "trl": "transformers",
}  # fmt: skip
_BASES = ("lightning.", "transformers.Trainer", "transformers.Seq2SeqTrainer", "mmengine.", "mmcv.", "composer.",
          "ignite.", "fastai.", "skorch.", "trl.", "sentence_transformers.", "catalyst.")  # fmt: skip


def frameworks(source: Source) -> frozenset[str]:
    """Frameworks the file imports: lightning, accelerate, transformers, ignite, fastai, mmengine, skorch, composer."""
    found = cast("frozenset[str] | None", source.memo.get("frameworks"))
    if found is None:
        names = set(source.names.imported.values())
        seen = {_ROOTS[root] for name in names if (root := name.partition(".")[0]) in _ROOTS}
        if any(name.startswith("transformers.") and "Trainer" in name for name in names):
            seen.add("transformers")
        found = source.memo["frameworks"] = frozenset(seen)
    return found


def owned(source: Source, node: ast.AST) -> bool:
    """Whether a framework runs the loop around this node: a class that inherits from one, or a file that imports one."""
    from torchlore.check.project import enclosing_class

    cls = enclosing_class(source, node)
    if cls is not None:
        outside = source.project.bases(cls)[1]
        if any(name.startswith(_BASES) for name in outside):
            return True
    return bool(frameworks(source))


def switches(source: Source, node: ast.AST) -> bool:
    """Whether a framework chooses the mode here; under Accelerate the loop, with its `train()` and `eval()`, is the user's own."""
    return owned(source, node) and not (
        frameworks(source) == {"accelerate"} and "pytorch_accelerated" not in source.text
    )
