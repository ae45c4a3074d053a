"""Do something right after the program has imported torch; a program that never does pays nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class AfterImport(MetaPathFinder):
    """Stands first in `sys.meta_path` until the module has been imported once."""

    def __init__(self, name: str, action: Callable[[], object]) -> None:
        self.name = name
        self.action = action

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The ordinary spec, with a loader that calls back."""
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.action)
        return spec


class _Loader(Loader):
    def __init__(self, real: Loader, action: Callable[[], object]) -> None:
        self.real = real
        self.action = action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self.real
        module.__loader__ = self.real
        self.real.exec_module(module)
        self.action()


def after_import(name: str, action: Callable[[], object]) -> None:
    """Call this once the module is imported; at once if it is already."""
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, AfterImport(name, action))
