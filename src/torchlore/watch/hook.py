"""Do something right after the program has imported torch; a program that never does pays nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class AfterImport(MetaPathFinder):
    """Stands first in `sys.meta_path` until the module has been imported once; to ask where it is does not import it."""

    def __init__(self, name: str, action: Callable[[], object], before: Callable[[], object]) -> None:
        self.name = name
        self.action = action
        self.before = before

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The ordinary spec, with a loader that calls back."""
        if fullname != self.name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self)
        return spec


class _Loader(Loader):
    def __init__(self, real: Loader, finder: AfterImport) -> None:
        self.real = real
        self.finder = finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self.real
        module.__loader__ = self.real
        sys.meta_path.remove(self.finder)
        self.finder.before()
        self.real.exec_module(module)
        self.finder.action()


def after_import(name: str, action: Callable[[], object], before: Callable[[], object] = lambda: None) -> None:
    """Call the one before and the other after the module is imported; both at once if it is already."""
    if name in sys.modules:
        before()
        action()
    else:
        sys.meta_path.insert(0, AfterImport(name, action, before))
