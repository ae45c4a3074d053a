"""Find the pictures nearest to one, in a file of `lore extract`.

Examples:
  lore similar features.h5 photos/cat/1.jpg -k 10
  lore similar features.h5 cat/1.jpg --html similar.html
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from torchlore.cli import Failure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The features, the picture, and how to compare."""
    parser.add_argument("features", metavar="FEATURES", help="a file written by `lore extract`")
    parser.add_argument("image", metavar="IMAGE", help="a picture file, or the name of a picture in the features")
    parser.add_argument("-k", type=int, default=10, metavar="N", help="how many neighbours (default: 10)")
    parser.add_argument("--layer", default="", help="which layer to compare (default: the last one in the file)")
    parser.add_argument("--distance", choices=("cosine", "euclidean"), default="cosine", help="default: cosine")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with the pictures and a map of all features"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON list for machines")


def run(args: argparse.Namespace) -> int:
    """The neighbours, nearest first, and the page."""
    from torchlore.extract.formats import read
    from torchlore.extract.similar import matches, query, report
    from torchlore.train.run import Refused

    try:
        layer = args.layer or read(args.features, "").about["layers"][-1]
        features = read(args.features, layer)
        if not features.names:
            raise Failure(f"{args.features} holds no pictures")
        feature = query(features, layer, args.image)
        near = matches(features, layer, feature, args.k, args.distance)
    except Refused as refused:
        raise Failure(str(refused)) from None
    if args.json:
        print(json.dumps([asdict(one) for one in near]))
    else:
        wide = max(len(one.name) for one in near)
        for number, one in enumerate(near, 1):
            print(f"{number:3}  {one.distance:9.6f}  {one.name:{wide}}  {one.label}".rstrip())
    if args.html:
        try:
            args.html.write_text(
                report(features, layer, args.image, feature, near), encoding="utf-8", errors="surrogateescape"
            )
        except OSError as error:
            raise Failure(f"{args.html} cannot be written: {error.strerror}") from None
        print(f"  {args.html}" if not args.json else "", end="\n" if not args.json else "")
    return 0
