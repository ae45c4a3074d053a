"""The files of one program: a script and what it imports from its own project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlore.check.project import Project, imported_files

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 60  # files: a script that imports a whole library is not read to its end


def program(files: Sequence[str]) -> list[str]:
    """These files, then the files of the project that they import, the nearest first."""
    project = Project()
    project.add(files)
    order = list(files)
    for path in order:
        source = project.source(path) if len(order) < MOST and path.endswith(".py") else None
        found = sorted(imported_files(source)) if source is not None else []
        project.add(found)
        order += [one for one in found if one not in order]
    return order[: max(MOST, len(files))]
