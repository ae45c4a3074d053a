"""What a search was worth: its figures, a line for each query, and sheets of what was found first."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchlore.recipes.metrics import Retrieval
from torchlore.recipes.tensors import pairwise_blocks
from torchlore.report import charts, page
from torchlore.report.sheets import Hit, Sheet, sheets
from torchlore.train.embed.views import Views
from torchlore.train.files import resize
from torchlore.train.samples import Samples
from torchlore.train.tested import Tested

RANKS = (1, 5, 10, 20, 50)
SHOWN, BEST = 16, 10  # queries with a sheet, and results on it
THUMB = 64  # pixels


@dataclass(frozen=True)
class Found:
    """What the model says of a split: an embedding of each sample, and what a search with them is worth."""

    features: Tensor  # (N, D) of length 1
    retrieval: Retrieval


def tested(trained: tuple[str, ...], part: Views, found: Found) -> Tested:
    """Everything that is written after a test; `trained` are the identities of the training set."""
    figures, cameras = summary(trained, part, found.retrieval), camera_figures(part, found.retrieval)
    shown = ", ".join(f"{name} {figures[name]:.4f}" for name in ("mAP", *(f"rank{rank}" for rank in RANKS[:4])))
    counts = f"{figures['queries']} queries in a gallery of {figures['gallery']}"
    best, apart = nearest(part, found.features, BEST)
    return Tested(
        figures={**figures, "cmc": found.retrieval.cmc.tolist(), "cameras": cameras},
        rows=rows(part, found.retrieval, best),
        lines=[*camera_lines(cameras), *warnings(figures), f"{counts}: {shown}"],
        headline=f"test mAP {figures['mAP']:.2%}, rank 1 {figures['rank1']:.2%}, {counts}",
        tiles={
            "test mAP": f"{figures['mAP']:.2%}",
            **{f"rank {rank}": f"{figures[f'rank{rank}']:.2%}" for rank in RANKS[:2]},
            **{name: str(figures[name]) for name in ("queries", "gallery", "identities")},
        },
        sections=sections(figures, cameras, found.retrieval, drawn(part, found.retrieval, best, apart)),
    )


def sections(
    figures: dict[str, Any], cameras: dict[str, dict[str, float]], found: Retrieval, drawn: list[Sheet]
) -> str:
    """The part of the report that is this task's own."""
    curve = charts.lines("found by rank", {"CMC": list(enumerate(found.cmc.tolist(), 1))}, "rank")
    lines = [(name, one["queries"], f"{one['mAP']:.4f}", f"{one['rank1']:.4f}") for name, one in cameras.items()]
    said = "".join(f"<p>{page.text(line)}.</p>" for line in warnings(figures))
    parts = (
        page.section("Ranked results", said, sheets(drawn)),
        page.section("Match rate", f'<div class="charts">{curve}</div>'),
        page.section("Cameras", page.table(("camera", "queries", "mAP", "rank 1"), lines) if lines else ""),
    )
    return "".join(parts)


def warnings(figures: dict[str, Any]) -> list[str]:
    """What to know before the figures are believed, a sentence each."""
    left, trained = figures["left_out"], figures["identities_trained_on"]
    found = [f"{left} queries have no right picture by another camera and are left out"] if left else []
    return found + ([f"{trained} of the {figures['identities']} identities were trained on"] if trained else [])


def summary(trained: tuple[str, ...], part: Views, found: Retrieval) -> dict[str, Any]:
    """The figures of a split that fit on a line each; a rank beyond the gallery's end is its last."""
    curve = found.cmc.tolist()
    return {
        "samples": len(part.labels),
        "queries": found.queries,
        "gallery": int((~part.query).sum()),
        "identities": len(part.identities),
        "identities_trained_on": len(set(part.identities) & set(trained)),
        "left_out": int(part.query.sum()) - found.queries,
        "mAP": float(found.mean_average_precision),
        **{f"rank{rank}": curve[min(rank, len(curve)) - 1] for rank in RANKS},
    }


def camera_figures(part: Views, found: Retrieval) -> dict[str, dict[str, float]]:
    """Queries, mAP and rank 1 of the queries of each camera."""
    taken = part.cameras[part.query]
    figures = {}
    for number, name in enumerate(part.lenses):
        mine = (taken == number) & (found.first > 0)
        if bool(mine.any()):
            mean, first = found.precision[mine].mean(), (found.first[mine] == 1).double().mean()
            figures[name] = {"queries": int(mine.sum()), "mAP": float(mean), "rank1": float(first)}
    return figures


def camera_lines(figures: dict[str, dict[str, float]]) -> list[str]:
    """The figures of each camera as lines of text."""
    if not figures:
        return []
    width = max(6, *(len(name) for name in figures))
    return [f"{'camera':{width}}  queries     mAP  rank 1"] + [
        f"{name:{width}}  {one['queries']:7}  {one['mAP']:.4f}  {one['rank1']:.4f}" for name, one in figures.items()
    ]


def nearest(part: Views, features: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The samples (Q, count) found first for each query and their distances, what the rule leaves out left out.

    Where the gallery is shorter than that, the sample is -1.
    """
    asks, rest = part.query.nonzero().flatten(), (~part.query).nonzero().flatten()
    found, far = [torch.empty(0, count, dtype=torch.long)], [torch.empty(0, count)]
    rows = max(1, (1 << 24) // max(1, len(rest)))
    for block, apart in pairwise_blocks(features[asks], features[rest], distance="cosine", rows=rows):
        if part.lenses:
            own = part.labels[asks[block], None] == part.labels[rest]
            apart[own & (part.cameras[asks[block], None] == part.cameras[rest])] = torch.inf
        best = apart.topk(min(count, len(rest)), dim=1, largest=False)
        spare = (0, count - best.values.shape[1])
        values = torch.nn.functional.pad(best.values, spare, value=torch.inf)
        at = torch.nn.functional.pad(rest[best.indices], spare, value=-1)
        found.append(torch.where(values < torch.inf, at, -1))
        far.append(values)
    return torch.cat(found), torch.cat(far)


def rows(part: Views, found: Retrieval, best: Tensor) -> list[dict[str, Any]]:
    """A line for each query: what it is, what the search was worth, what was found first."""
    made = []
    for number, at in enumerate(part.query.nonzero().flatten().tolist()):
        row: dict[str, Any] = {
            "query": part.names[at],
            "identity": part.identities[int(part.labels[at])],
            "camera": part.lenses[int(part.cameras[at])] if part.lenses else "",
            "average_precision": f"{float(found.precision[number]):.6f}" if int(found.first[number]) else "",
            "first_right": int(found.first[number]) or "",
        }
        names = [part.names[one] if one >= 0 else "" for one in best[number].tolist()]
        made.append(row | {f"result_{rank}": name for rank, name in enumerate(names, 1)})
    return made


def drawn(part: Views, found: Retrieval, best: Tensor, apart: Tensor) -> list[Sheet]:
    """Sheets of queries from the worst to the best, evenly."""
    usable = (found.first > 0).nonzero().flatten()
    order = usable[found.precision[usable].argsort(stable=True)]
    picked = order[torch.linspace(0, len(order) - 1, min(SHOWN, len(order))).round().long()]
    asks = part.query.nonzero().flatten()
    made = []
    for number in picked.tolist():
        at = int(asks[number])
        hits = [
            hit(part, one, f"{distance:.3f}", right=bool(part.labels[one] == part.labels[at]))
            for one, distance in zip(best[number].tolist(), apart[number].tolist(), strict=True)
            if one >= 0
        ]
        made.append(Sheet(hit(part, at, "query", right=True), hits, float(found.precision[number])))
    return made


def hit(part: Views, at: int, note: str, *, right: bool) -> Hit:
    """One picture of a sheet."""
    camera = part.lenses[int(part.cameras[at])] if part.lenses else ""
    identity = part.identities[int(part.labels[at])]
    return Hit(part.names[at], identity, camera, note, thumbnail(part, at), right)


def thumbnail(samples: Samples, at: int) -> str:
    """A sample as a small JPEG in a data: address."""
    from PIL import Image

    picture = samples.read([at], None)[0].cpu()
    if picture.shape[1] > THUMB:
        picture = resize(picture, THUMB, THUMB)
    pixels = picture.expand(3, -1, -1).permute(1, 2, 0).contiguous().numpy()
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=88)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
