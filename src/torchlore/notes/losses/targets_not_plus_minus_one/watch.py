"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[Call, "margin_ranking_loss", "cosine_embedding_loss", "hinge_embedding_loss", "soft_margin_loss"],
) -> Alarm | None:
    third = call.name in ("margin_ranking_loss", "cosine_embedding_loss")
    target = call.argument(2 if third else 1, "target")
    if target is None or target.device.type != "cpu" or not bool((target == 0).any()) or bool((target == -1).any()):
        return None
    zeros = int((target == 0).sum())
    return Alarm(
        f"{call.name} takes targets of 1 and -1, and {zeros} of {target.numel()} are 0, which teach nothing; write 2 * label - 1"
    )
