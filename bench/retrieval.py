"""Retrieval of 10,000 queries in 100,000 gallery features of size 512: ours against the plain way with the full matrix.

Each way runs in a process of its own. Time is that process's processor time in one thread; memory is how far its peak
lies above what it held with the features in place. The plain way takes 12 GB at the full size.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
import torch

from torchlore.recipes.metrics import retrieval

IDENTITIES, CAMERAS, RANKS = 2000, 6, 50


def features(count: int, size: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows of length 1 around the place of their identity, their identities and their cameras."""
    places = torch.randn(IDENTITIES, size, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, IDENTITIES, (count,), generator=generator)
    cameras = torch.randint(0, CAMERAS, (count,), generator=generator)
    rows = torch.empty(count, size).normal_(0, 2.5, generator=generator).add_(places[labels])
    return torch.nn.functional.normalize(rows, out=rows), labels, cameras


def plain(query: tuple[torch.Tensor, ...], gallery: tuple[torch.Tensor, ...]) -> tuple[float, float]:
    """What re-identification programs write: all distances, all of them sorted, then a loop over the queries."""
    (q, q_label, q_camera), (g, g_label, g_camera) = ([one.numpy() for one in part] for part in (query, gallery))
    order = np.argsort(1 - q @ g.T, axis=1)
    precisions, curves = [], []
    for i in range(len(q)):
        ranked = order[i]
        kept = (g_label[ranked] != q_label[i]) | (g_camera[ranked] != q_camera[i])
        right = (g_label[ranked] == q_label[i])[kept].astype(np.int32)
        if not right.any():
            continue
        hits = right.cumsum()
        curves.append(np.minimum(hits, 1)[:RANKS])
        precisions.append((hits / np.arange(1, len(hits) + 1) * right).sum() / right.sum())
    return float(np.mean(precisions)), float(np.mean(curves, axis=0)[0])


def ours(query: tuple[torch.Tensor, ...], gallery: tuple[torch.Tensor, ...]) -> tuple[float, float]:
    """The recipe that `lore train --task embed` and `lore test` call."""
    (q, q_label, q_camera), (g, g_label, g_camera) = query, gallery
    found = retrieval(q, g, q_label, g_label, cameras=(q_camera, g_camera), max_rank=RANKS)
    return float(found.mean_average_precision), float(found.cmc[0])


def peak() -> float:
    """The most memory of this process so far in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def alone(way: str, queries: int, gallery: int, size: int) -> None:
    """One way in this process; its figures as a line of JSON."""
    torch.set_num_threads(1)
    parts = features(queries, size, 1), features(gallery, size, 2)
    ours(tuple(one[:8] for one in parts[0]), tuple(one[:100] for one in parts[1]))  # load what is loaded once
    before, start, wall = peak(), time.process_time(), time.perf_counter()
    mean, first = {"plain": plain, "ours": ours}[way](*parts)
    took, waited = time.process_time() - start, time.perf_counter() - wall
    print(json.dumps({"mAP": mean, "rank1": first, "seconds": took, "wall": waited, "MB": peak() - before}))


def main() -> None:
    """Both ways, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--gallery", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--way", choices=("plain", "ours"))
    args = parser.parse_args()
    if args.way:
        alone(args.way, args.queries, args.gallery, args.size)
        return
    sizes = [f"--{name}={getattr(args, name)}" for name in ("queries", "gallery", "size")]
    found = {}
    print(f"{args.queries} queries, {args.gallery} gallery entries, {args.size} features", flush=True)
    for way in ("ours", "plain"):
        done = subprocess.run(
            [sys.executable, __file__, "--way", way, *sizes], capture_output=True, text=True, check=True
        )
        found[way] = one = json.loads(done.stdout)
        print(
            f"{way:6} {one['seconds']:7.1f} s of CPU {one['wall']:7.1f} s {one['MB']:9,.0f} MB   "
            f"mAP {one['mAP']:.6f} rank 1 {one['rank1']:.4f}",
            flush=True,
        )
    assert abs(found["ours"]["mAP"] - found["plain"]["mAP"]) < 1e-5
    times, memory = (found["ours"][name] / found["plain"][name] for name in ("seconds", "MB"))
    print(f"ratio  {times:7.2f} of the time, {memory:.3f} of the memory")


if __name__ == "__main__":
    main()
