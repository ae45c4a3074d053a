"""Every script of the notes, and those of other folders, plainly and under watch: is all that they leave behind the same?

    python bench/watch_same.py [FOLDER …]     # a folder's *.py at any depth, beside the notes' bad.py and good.py
    python bench/watch_same.py --no-notes FOLDER --only resume

Each runs twice in a process of its own, with the same seeds. Compared are what it prints, every number, tensor and module that its
top level holds, and the state of the three random generators at the end; bit for bit.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import pickle
import random
import re
import runpy
import sys
import tempfile
import warnings
from contextlib import nullcontext, redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import torch

from torchlore.catalogue import notes
from torchlore.verify import absent, isolated
from torchlore.watch import watching


def bits(value: torch.Tensor) -> tuple[str, tuple[int, ...], bytes]:
    """Type, shape and every bit; to pickle a tensor would add where it lies."""
    flat = value.detach().cpu().contiguous().flatten()
    return str(value.dtype), tuple(value.shape), flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def left(space: dict[str, object]) -> dict[str, object]:
    """Names with what can be compared of them."""
    found: dict[str, object] = {}
    for name, value in space.items():
        if isinstance(value, torch.nn.Module):
            found[name] = {key: bits(one) for key, one in value.state_dict().items() if torch.is_tensor(one)}
        elif torch.is_tensor(value) and not value.is_sparse:
            found[name] = bits(value)
        elif isinstance(value, str) and not name.startswith("__"):
            found[name] = _nameless(value)
        elif isinstance(value, (int, float, bool, np.ndarray)):
            found[name] = value
        elif name == "result":
            found[name] = _nameless(repr(value))
    return found


def _nameless(text: str) -> str:
    """Without the names of temporary files, which are new each time."""
    return re.sub(re.escape(tempfile.gettempdir()) + r"/[\w.-]+", "", text)


def digest(path: Path, *, watch: bool) -> str:
    """A hash of all that the script leaves behind."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - what scripts draw from
    torch.manual_seed(0)
    torch.set_num_threads(1)
    out, ended, space = io.StringIO(), "", {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        sys.argv, sys.path[0] = [str(path)], str(path.parent)
        with redirect_stdout(out), redirect_stderr(io.StringIO()), watching() if watch else nullcontext():
            try:
                space = left(runpy.run_path(str(path), run_name="__main__"))
            except BaseException as error:  # noqa: BLE001 - a script may end in any error; it must be the same one
                ended = f"{type(error).__name__}: {error}"
        os.chdir("/")
    old = np.random.get_state()  # noqa: NPY002 - see above
    state = (_nameless(out.getvalue()), _nameless(ended), space, bits(torch.get_rng_state()), random.getstate(), old)
    return hashlib.sha256(pickle.dumps(state)).hexdigest()


def told(path: Path, *, watch: bool) -> str:
    """The digest, got in a process of its own."""
    with tempfile.NamedTemporaryFile("r") as file:
        trouble = isolated(lambda: Path(file.name).write_text(digest(path, watch=watch), encoding="ascii"))
        return trouble or file.read()


def wanted() -> list[Path]:
    """The scripts that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="whose *.py are run too")
    parser.add_argument("--no-notes", action="store_true", help="leave the notes' own scripts out")
    parser.add_argument("--only", default="", metavar="TEXT", help="scripts whose path holds this")
    args = parser.parse_args()
    traps = [] if args.no_notes else [one for one in notes() if one.is_trap and not absent(one, "cpu")]
    scripts = [one.script(name) for one in traps for name in ("bad", "good")]
    scripts += [path.absolute() for folder in args.folders for path in sorted(folder.rglob("*.py"))]
    return [path for path in scripts if args.only in str(path)]


def main() -> int:
    scripts = wanted()
    with watching():
        pass  # what both ways import is there before either
    for name in ("sklearn.metrics", "torchmetrics", "torchvision"):  # and what takes long to import is, once for all
        with suppress(ImportError):
            import_module(name)
    different, unsteady = [], []
    for number, path in enumerate(scripts, 1):
        print(f"{number} of {len(scripts)}: {path.parent.name}/{path.name}", file=sys.stderr, flush=True)
        plain = told(path, watch=False)
        if plain != told(path, watch=True):
            by_itself = plain != told(path, watch=False)
            (unsteady if by_itself else different).append(path)
            print("  differs by itself" if by_itself else "  differs under watch", file=sys.stderr, flush=True)
    print(
        f"{len(scripts)} scripts: {len(different)} differ under watch, {len(unsteady)} differ from run to run by themselves"
    )
    for path in different:
        print(f"  {path}")
    for path in unsteady:
        print(f"  by itself: {path}")
    return bool(different)


if __name__ == "__main__":
    raise SystemExit(main())
