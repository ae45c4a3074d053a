"""What the processes of one program know of each other, without a message: each leaves a small file, read in the end."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

VARIABLE = "TORCHLORE_WATCH"


class Ranks:
    """This process among those of `torch.distributed`; 1 of 1 where there is none."""

    def __init__(self) -> None:
        self.rank, self.size = 0, 1
        self.token = secrets.token_hex(8)  # a fork has it too
        self.owner = self.writer = os.getpid()
        self.said: dict[str, Any] = {}

    @property
    def world(self) -> int:
        """How many processes there are; asked for without a message, and remembered when the group is gone."""
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        return self.size

    def say(self, name: str, value: Any) -> None:
        """Leave a fact for the others; nothing is written where there are none."""
        if self.world < 2:
            return
        if self.writer != os.getpid():
            self.writer, self.said = os.getpid(), {}
        self.said[name] = value
        folder = self.folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.lstat().st_uid != os.getuid():  # somebody else's, or a link that leads to him
            return
        new = folder / f"new-{os.getpid()}"
        new.write_text(json.dumps({"world": self.size, "said": self.said}), encoding="utf-8")
        new.replace(folder / f"rank-{self.rank}.json")

    def heard(self, name: str) -> dict[int, Any]:
        """What each rank on this machine said, ours too."""
        found = {}
        for path in sorted(self.folder().glob("rank-*.json")):
            left = json.loads(path.read_text(encoding="utf-8"))
            if left["world"] == self.size and name in left["said"]:
                found[int(path.stem.partition("-")[2])] = left["said"][name]
        return found

    def folder(self) -> Path:
        """Where all processes of this program look, named after what they share."""
        shared = self.token
        if "TORCHELASTIC_RUN_ID" in os.environ:  # started by torchrun: all have one parent
            words = ("TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")
            shared = "-".join([str(os.getppid()), *(os.environ.get(word, "") for word in words)]).replace(os.sep, "_")
        elif VARIABLE in os.environ:  # the program that is watched has started them
            return Path(json.loads(os.environ[VARIABLE])["folder"]) / "ranks"
        return Path(tempfile.gettempdir()) / f"lore-ranks-{os.getuid()}-{shared}"

    def leave(self) -> None:
        """The end: whoever comes last, or began it all, clears up."""
        folder = self.folder()
        if not self.said or not folder.is_dir():
            return
        (folder / f"done-{self.rank}").touch()
        began = "TORCHELASTIC_RUN_ID" not in os.environ and self.owner == os.getpid()
        if began or len(list(folder.glob("done-*"))) >= self.size:
            shutil.rmtree(folder, ignore_errors=True)
