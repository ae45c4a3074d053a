"""`from_pretrained` hands over a model in evaluation mode: trained as it is, it never drops anything.

`AutoModel.from_pretrained(...)` of transformers ends with `model.eval()`, while a model built from its config is in training mode.
A loop of one's own that never calls `model.train()` fine-tunes without dropout: it overfits sooner than the paper's recipe says,
and checkpointing of activations, which asks for training mode, saves no memory. `Trainer` does it for you, so examples leave it out.

Call `model.train()` at the top of each epoch, and `model.eval()` before each evaluation.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, tree
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/tomaarsen/SpanMarkerNER/pull/4",)
TORCH = "2.11, 2.15"
NEEDS = ("transformers",)
SEVERITY = "warning"
WORDS = ("from_pretrained", "backward|*accelerat*", "step")
_MADE = re.compile(r"transformers\.(\w+\.)*\w*(Model|For[A-Z])\w*\.from_pretrained$")
# which drop nothing, whatever their mode
_DRY = re.compile(
    r"llama|mistral|mixtral|qwen|gemma|phi|falcon|pythia|neox|deepseek|vit|swin|dino|clip|convnext|resnet|mae",
    re.IGNORECASE,
)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["dropped"] == 0
    assert good["dropped"] == 1


def find(source: Source) -> Iterator[Hit]:
    if any(source.methods("train")) or frameworks.frameworks(source) - {"accelerate"}:
        return
    for loop in flow.training_loops(source):
        called = [one for one in loop.direct("forward") if one.source is source and one.expr is not None]
        made = {
            name: call for one in called if (call := _loaded(source, one)) and (name := source.code(one.expr or call))
        }
        for one in called:
            name = source.code(one.expr) if one.expr is not None else ""
            if loop.of("step") and name in made and not loop.of("train", "eval"):
                told = f"`from_pretrained` left `{name}` in evaluation mode, so it is trained without dropout: call `{name}.train()` before the loop"
                yield source.hit(one.node, told)
                return


def _loaded(source: Source, event: Event) -> ast.Call | None:
    """The call of `from_pretrained` that made the model, of a kind that has dropout."""
    found = source.values(event.expr) if event.expr is not None else ()
    plain = [one for one in found if one.kind != "none"]
    call = plain[0].node if plain and all(_MADE.match(one.name) for one in plain) else None
    if not isinstance(call, ast.Call) or not call.args:
        return None
    home, name = plain[0].source or source, plain[0].name.rpartition(".")[0].rpartition(".")[2]
    given = tree.literal(follow.followed(home, call.args[0]))
    known = isinstance(given, str) or not name.startswith("Auto")
    return call if known and not _DRY.search(f"{name} {given}") else None
