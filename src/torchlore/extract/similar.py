"""The pictures nearest to one picture, a map of all of them, and the page that shows both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from torchlore.extract.formats import Features
from torchlore.extract.layers import layer_features
from torchlore.extract.models import digest, open_model
from torchlore.extract.pictures import list_pictures
from torchlore.recipes.data import BrokenImageError, decode_image
from torchlore.recipes.seed import seeded
from torchlore.recipes.tensors import nearest
from torchlore.report.confusion import png
from torchlore.report.page import page, section, table, text, tiles
from torchlore.train.files import middle
from torchlore.train.models import prepared
from torchlore.train.run import Refused

Distance = Literal["cosine", "euclidean"]
WIDE, HIGH, THUMB = 900, 560, 112
MOST_POINTS = 3000
COLOURS = ("--b", "--c", "--d", "--e")


@dataclass(frozen=True)
class Match:
    """One neighbour: its row, its name and class, and how far it is."""

    row: int
    name: str
    label: str
    distance: float


def query(features: Features, layer: str, image: str) -> Tensor:
    """The feature (D,) of a row's name, or of a picture file through the model that made the others."""
    if image in features.names:
        return features.layers[layer][features.names.index(image)].reshape(-1).float()
    if not Path(image).is_file():
        raise Refused(f"{image} is no picture file and no name in the features, such as {features.names[0]}")
    about = features.about
    built = open_model(about["model"], about["weights"], about["channels"])
    if digest(built.model) != about["digest"]:
        raise Refused(f"the weights of {about['model']} ({about['weights']}) are not those the features were made with")
    try:
        picture = middle(decode_image(image), about["size"])[None]
    except BrokenImageError as error:
        raise Refused(str(error)) from None
    batch = prepared(built, torch.device("cpu"), channels_last=False)(picture[:, : about["channels"]])
    return layer_features(built.model, [layer], batch, pool=about["pool"])[layer].reshape(-1).float()


def matches(features: Features, layer: str, feature: Tensor, k: int, distance: Distance) -> list[Match]:
    """The k nearest rows, nearest first."""
    rows = features.layers[layer].reshape(len(features.names), -1).float()
    if k < 1:
        raise Refused(f"-k must be at least 1; got {k}")
    found = nearest(feature[None], rows, min(k, len(rows)), distance=distance)
    return [
        Match(row, features.names[row], features.labels[row], gap)
        for row, gap in zip(found.indices[0].tolist(), found.distances[0].tolist(), strict=True)
    ]


def flat_map(rows: Tensor) -> tuple[Tensor, float]:
    """Rows (N, D) on the two axes along which they differ most, (N, 2), and the share of the spread that they keep.

    >>> places, kept = flat_map(torch.tensor([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]))
    >>> places.shape, round(kept, 3)
    (torch.Size([3, 2]), 1.0)
    """
    centred = rows.double() - rows.double().mean(0)
    spread = float(centred.square().sum())
    if min(rows.shape) < 2 or spread == 0:
        return torch.zeros(len(rows), 2, dtype=torch.float64), 1.0
    with seeded(0):  # the method starts from random directions
        _, sizes, axes = torch.pca_lowrank(centred, q=min(6, *rows.shape), center=False, niter=4)
    return centred @ axes[:, :2], float(sizes[:2].square().sum()) / spread


def scatter(features: Features, places: Tensor, query_place: Tensor, near: Sequence[Match]) -> str:
    """The map as SVG: a dot a picture, coloured by class; neighbours ringed, the picture asked about a cross."""
    common = [label for label, _ in Counter(features.labels).most_common(len(COLOURS))]
    colours = dict(zip(common, COLOURS, strict=False))
    everything = torch.cat([places, query_place[None]])
    low, high = everything.amin(0), everything.amax(0)
    scaled = (everything - low) / (high - low).clamp_min(1e-12)
    xs, ys = (20 + scaled[:, 0] * (WIDE - 40)).tolist(), (HIGH - 20 - scaled[:, 1] * (HIGH - 40)).tolist()
    ringed = {one.row for one in near}
    step = -(-len(features.names) // MOST_POINTS)
    shown = [row for row in range(len(features.names)) if row % step == 0 or row in ringed]
    dots = "".join(
        f'<circle cx="{xs[row]:.1f}" cy="{ys[row]:.1f}" r="4" style="fill:var({colours.get(features.labels[row], "--dim")})'
        f'{";stroke:var(--a);stroke-width:2.5" if row in ringed else ";fill-opacity:.6"}">'
        f"<title>{text(features.names[row])}</title></circle>"
        for row in shown
    )
    cross = f'<path d="M{xs[-1] - 8:.1f} {ys[-1]:.1f}h16M{xs[-1]:.1f} {ys[-1] - 8:.1f}v16" style="stroke:var(--a);stroke-width:2.5"/>'
    keys = " ".join(
        f'<span style="color:var({colour})">●</span> {text(label or "no class")}' for label, colour in colours.items()
    )
    keys += ' <span class="dim">●</span> others' if len(set(features.labels)) > len(COLOURS) else ""
    left = f"; {len(shown):,} of {len(features.names):,} pictures are drawn" if step > 1 else ""
    picture = f'<svg viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="map of the features">{dots}{cross}</svg>'
    return f"<figure>{picture}<figcaption>{keys} · ringed: the neighbours · cross: the picture asked about{left}</figcaption></figure>"


def thumbnail(picture: Tensor) -> str:
    """A picture (C, H, W) uint8 as a small square in a data: address."""
    small = middle(picture, THUMB)
    return png(small.permute(1, 2, 0).contiguous().numpy().tobytes(), THUMB, THUMB, small.shape[0])


def _figure(address: str, name: str, words: str) -> str:
    image = f'<img src="{text(address)}" alt="{text(name)}">' if address else '<p class="dim">the picture is gone</p>'
    return f"<figure>{image}<figcaption>{words}<br><code>{text(name)}</code></figcaption></figure>"


def report(features: Features, layer: str, image: str, feature: Tensor, near: Sequence[Match]) -> str:
    """One page: the picture, its neighbours, the map of everything."""
    try:
        opener = list_pictures(features.about["data"]).open
    except Refused:  # the data has moved since; the page then shows names only
        opener = None

    def address(name: str) -> str:
        try:
            return thumbnail(opener(name)) if opener is not None else ""
        except BrokenImageError:
            return ""

    asked = address(image) if image in features.names else thumbnail(decode_image(image))
    gallery = "".join(
        _figure(address(one.name), one.name, f"<b>{number}</b> · {text(one.label)} · {one.distance:.4g}")
        for number, one in enumerate(near, 1)
    )
    rows = features.layers[layer].reshape(len(features.names), -1).float()
    places, kept = flat_map(torch.cat([rows, feature[None]]))
    about = features.about
    figures = {
        "pictures": f"{len(rows):,}",
        "model": about["model"],
        "layer": layer,
        "on the map": f"{kept:.0%} of the spread",
    }
    listing = table(
        ("rank", "name", "class", "distance"),
        [(n, m.name, m.label, f"{m.distance:.6g}") for n, m in enumerate(near, 1)],
    )
    return page(
        f"Pictures like {Path(image).name}",
        tiles(figures),
        section("Asked about", f'<div class="gallery">{_figure(asked, image, "")}</div>'),
        section("Nearest", f'<div class="gallery">{gallery}</div>', listing),
        section("Map of all features", scatter(features, places[:-1], places[-1], near)),
    )
