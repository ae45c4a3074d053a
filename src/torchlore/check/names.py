"""What a dotted name means: imports in every form, aliases, and one spelling for things torch exports twice."""

from __future__ import annotations

import ast
import builtins
import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

from torchlore.check import uses

if TYPE_CHECKING:
    from torchlore.check.source import Source

_BUILTINS = frozenset(dir(builtins))
_USUAL = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
}  # `from imports import *`
_FAMILIES = (
    "resnet|vgg|alexnet|densenet|googlenet|inception|mobilenetv?[23]?|mnasnet|regnet|shufflenetv2|squeezenet|"
    "efficientnet|convnext|vision_transformer|swin_transformer"
)
_SAME = (  # where a name must start, what of it is replaced, by what; compiled when a name starts so
    ("torch.nn.modules.", r"^torch\.nn\.modules\.\w+\.(\w+)", r"torch.nn.\1"),
    ("torch.nn.modules.", r"^torch\.nn\.modules\.([A-Z_]\w*)", r"torch.nn.\1"),
    ("torch.nn.parameter.", r"^torch\.nn\.parameter\.", "torch.nn."),
    ("torch.nn.parallel.", r"^torch\.nn\.parallel\.(?:data_parallel\.)?DataParallel\b", "torch.nn.DataParallel"),
    ("torch.nn.parallel.distributed.", r"^torch\.nn\.parallel\.distributed\.", "torch.nn.parallel."),
    ("torch.nn.utils.clip_grad.", r"^torch\.nn\.utils\.clip_grad\.", "torch.nn.utils."),
    ("torch.GradScaler", r"^torch\.GradScaler\b", "torch.amp.GradScaler"),
    ("torch.functional.", r"^torch\.functional\.", "torch."),
    ("torch.tensor.T", r"^torch\.tensor\.Tensor\b", "torch.Tensor"),
    ("torch._tensor.", r"^torch\._tensor\.Tensor\b", "torch.Tensor"),
    ("torch.autograd.", r"^torch\.autograd\.(?:grad_mode\.)?(no_grad|enable_grad|set_grad_enabled|inference_mode)\b", r"torch.\1"),
    ("torch.autograd.variable.", r"^torch\.autograd\.variable\.", "torch.autograd."),
    ("torch.optim.", r"^torch\.optim\.(?!lr_scheduler|swa_utils)[a-z_]\w*\.([A-Z]\w*)", r"torch.optim.\1"),
    ("torch.utils.data.", r"^torch\.utils\.data\.(?:dataloader|dataset|sampler|distributed)\.", "torch.utils.data."),
    ("torch.distributed.distributed_c10d.", r"^torch\.distributed\.distributed_c10d\.", "torch.distributed."),
    ("torchvision.transforms.transforms.", r"^torchvision\.transforms\.transforms\.", "torchvision.transforms."),
    ("torchvision.models.", rf"^torchvision\.models\.(?:{_FAMILIES})\.(\w)", r"torchvision.models.\1"),
    ("torchvision.datasets.", r"^torchvision\.datasets\.[a-z_]\w*\.([A-Z]\w*)", r"torchvision.datasets.\1"),
    ("pytorch_lightning", r"^pytorch_lightning\b", "lightning.pytorch"),
    ("lightning_lite", r"^lightning_lite\b", "lightning.pytorch"),
    ("lightning.pytorch.core", r"^lightning\.pytorch\.core(?:\.\w+)?\.([A-Z])", r"lightning.pytorch.\1"),
    ("lightning.", r"^lightning\.(LightningModule|Trainer|LightningDataModule|Callback)\b", r"lightning.pytorch.\1"),
    ("accelerate.accelerator.", r"^accelerate\.accelerator\.", "accelerate."),
    ("tqdm.", r"^tqdm\.(?:auto|notebook|std|asyncio)\.", "tqdm."),
)  # fmt: skip


@lru_cache(maxsize=65536)
def canonical(name: str) -> str:
    """One spelling for a thing that is exported under several: `torch.nn.modules.linear.Linear` is `torch.nn.Linear`."""
    if not name.startswith(("torch", "pytorch_l", "lightning", "accelerate.acc", "tqdm.")):
        return name
    for start, pattern, replacement in _SAME:
        if name.startswith(start):
            name = re.sub(pattern, replacement, name)
    return name


class Names:
    """The import and alias table of one file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.imported: dict[str, str] = {}
        self.stars: list[str] = []
        self._read_imports()
        self._memo: dict[ast.AST, str] = {}
        self._roots: dict[str, str] = {}

    def of(self, node: Any) -> str:
        """The canonical dotted name of an expression, or "" if it has none."""
        cls = node.__class__
        if cls is ast.Name:
            identifier = node.id
            found = self._roots.get(identifier)
            if found is None:
                found = self._roots[identifier] = self._resolve(identifier)
            return found if not found or identifier not in self.stored or self._visible(node) else ""
        if cls is not ast.Attribute:
            return ""
        memo = self._memo.get(node)
        if memo is None:
            owner = self.of(node.value)
            memo = self._memo[node] = canonical(f"{owner}.{node.attr}") if owner else ""
        return memo

    def tail(self, identifier: str) -> str:
        """Last part of the name an identifier stands for."""
        return self.root(identifier).rpartition(".")[2] or identifier

    @cached_property
    def stored(self) -> set[str]:
        """Identifiers that some statement of the file binds by assignment, as a parameter or as a loop variable."""
        found = {name.id for name in uses.stored(self.source)}
        found.update(arg.arg for arg in self.source.all(ast.arg))
        return found

    @cached_property
    def defined(self) -> dict[str, str]:
        """Full names of the functions and classes at the top of the file."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        module = self.source.module
        return {node.name: f"{module}.{node.name}" for node in top_level(self.source.tree) if isinstance(node, kinds)}

    def root(self, identifier: str) -> str:
        """The full name an identifier stands for where no local variable hides it, "" if it has none."""
        known = self._roots.get(identifier)
        if known is None:
            known = self._roots[identifier] = self._resolve(identifier)
        return known

    def _resolve(self, identifier: str) -> str:
        if "." in identifier:
            return canonical(identifier.rstrip("."))  # see `normal.qualify`
        found = self.imported.get(identifier) or self.aliases.get(identifier) or self.defined.get(identifier)
        if found:
            return found
        if identifier in _BUILTINS:
            return "" if identifier in self.stored else identifier
        if self.stars and identifier not in self.stored:
            return self._from_star(identifier)
        return ""

    @cached_property
    def aliases(self) -> dict[str, str]:
        """`t = torch` and `CE = nn.CrossEntropyLoss`: names bound once, to an imported name."""
        aliases: dict[str, str] = {}
        counts: dict[str, int] = {}
        found: dict[str, ast.expr] = {}
        for assign in uses.assigns(self.source, ast.Name):
            if len(assign.targets) == 1 and isinstance(target := assign.targets[0], ast.Name):
                counts[target.id] = counts.get(target.id, 0) + 1
                if assign.value.__class__ in (ast.Name, ast.Attribute):
                    found[target.id] = assign.value
        arguments = {a.arg for a in self.source.all(ast.arg)} if found else set()
        for identifier, value in found.items():
            root: ast.AST = value
            while isinstance(root, ast.Attribute):
                root = root.value
            known = isinstance(root, ast.Name) and root.id in self.imported and root.id != identifier
            if known and counts[identifier] == 1 and identifier not in arguments:
                aliases[identifier] = self._dotted(value)
        return aliases

    def _dotted(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            return canonical(f"{self._dotted(node.value)}.{node.attr}")
        return self.imported.get(cast("ast.Name", node).id, "")

    def _visible(self, name: ast.Name) -> bool:
        """Whether the import, not a local variable of the same name, is what this use means."""
        if name.id in self.aliases:
            return True
        from torchlore.check.scopes import local_binding

        return not local_binding(self.source, name)

    def _from_star(self, identifier: str) -> str:
        for module in reversed(self.stars):
            capital = identifier[:1].isupper()
            if module in ("torch.nn", "torch.optim", "torch.utils.data") and capital:
                return f"{module}.{identifier}"
            if module in ("torch", "torch.nn.functional") and not capital:
                return f"{module}.{identifier}"
            project, near = self.source.project, self.source.path
            if not module.startswith("torch") and (found := project.find(f"{module}.{identifier}", near)):
                return found.qualified
        return _USUAL.get(identifier, "")

    def _read_imports(self) -> None:
        for node in self.source.all(ast.Import):
            for alias in node.names:
                full = alias.name if alias.asname else alias.name.split(".")[0]
                self._bind(node, alias.asname or full, full)
        package = self.source.module.split(".")
        is_package = self.source.path.endswith("__init__.py")
        for origin in self.source.all(ast.ImportFrom):
            module = origin.module or ""
            if origin.level:
                keep = len(package) - origin.level + is_package
                module = ".".join([*package[: max(keep, 0)], *([module] if module else [])])
            for alias in origin.names:
                if alias.name == "*":
                    self.stars.append(canonical(module))
                else:
                    self._bind(origin, alias.asname or alias.name, f"{module}.{alias.name}" if module else alias.name)

    def _bind(self, node: ast.AST, identifier: str, full: str) -> None:
        fallback = isinstance(self.source.parents.get(node), ast.ExceptHandler)
        if not fallback or identifier not in self.imported:
            self.imported[identifier] = canonical(full)


def top_level(tree: ast.Module) -> list[ast.stmt]:
    """Statements at the top of a file, those under a top-level `if` or `try` included."""
    found: list[ast.stmt] = []
    stack: list[ast.stmt] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, ast.If | ast.Try | ast.With):
            inner = [*node.body, *getattr(node, "orelse", ()), *getattr(node, "finalbody", ())]
            for handler in getattr(node, "handlers", ()):
                inner += handler.body
            stack += reversed(inner)
    return found
