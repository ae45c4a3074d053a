"""The same program in another style: each function takes a parsed script and hands back one that means the same.

A rewriting leaves alone what it cannot rewrite safely; `STYLES` lists them all. Only the text changes: nothing is run.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable

from styles_core import (
    DEFINES,
    LIBRARIES,
    MODULES,
    Comprehension,
    Statements,
    blocks,
    bound_by,
    dotted,
    first_place,
    found,
    fresh,
    full_name,
    function,
    globals_read,
    imports,
    loaded,
    renamed,
    stored,
    used,
)
from styles_more import MORE

# --- 1. imports ---------------------------------------------------------------------------------------------------------


def full_names(tree: ast.Module) -> ast.Module:
    """`import torch` and `torch.nn.functional.relu`."""
    table = imports(tree)
    modules: set[str] = {full.split(".")[0] for full in table.values()}

    class Drop(ast.NodeTransformer):
        def visit_Import(self, node: ast.Import) -> ast.Import | None:  # the name ast wants
            modules.update(one.name for one in node.names if one.name.split(".")[0] in LIBRARIES)
            node.names = [one for one in node.names if table.get(one.asname or one.name.split(".")[0]) is None]
            return node if node.names else None

        def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:  # the name ast wants
            gone = [one for one in node.names if not node.level and (one.asname or one.name) in table]
            modules.update(str(node.module) for _ in gone)
            modules.update(full for one in gone if (full := f"{node.module}.{one.name}") in MODULES)
            node.names = [one for one in node.names if one not in gone]
            return node if node.names else None

    tree = renamed(Drop().visit(tree), {name: dotted(full) for name, full in table.items()})
    tree.body[first_place(tree) : first_place(tree)] = [ast.Import([ast.alias(name)]) for name in sorted(modules)]
    return tree


def short_torch(tree: ast.Module) -> ast.Module:
    """`import torch as th`, and everything by that."""
    taken = used(tree)
    tree, name = full_names(tree), fresh(taken, "th")
    kept = [
        one for one in tree.body if not (isinstance(one, ast.Import) and one.names[0].name.split(".")[0] == "torch")
    ]
    if len(kept) == len(tree.body):
        return tree
    tree.body = kept
    tree.body.insert(first_place(tree), ast.Import([ast.alias("torch", name)]))
    return renamed(tree, {"torch": ast.Name(name)})


def _imported_by(tree: ast.Module, split: Callable[[list[str], bool], int]) -> ast.Module:
    """Each full name cut in two: `from <first part> import <next name>`, by what `split` says of its parts."""
    taken = used(tree)
    tree = full_names(tree)
    wanted: dict[str, str] = {}

    def visit(node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Attribute) and (parts := ast.unparse(node).split("."))[0] in ("torch", "torchvision"):
            place = split(parts, isinstance(node.ctx, ast.Load)) if all(one.isidentifier() for one in parts) else 0
            if place:
                full = ".".join(parts[: place + 1])
                name = wanted.get(full) or wanted.setdefault(full, fresh(taken, parts[place]))
                return dotted(".".join([name, *parts[place + 1 :]]), node.ctx)
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(node, field, visit(value))
            elif isinstance(value, list):
                setattr(node, field, [visit(one) if isinstance(one, ast.AST) else one for one in value])
        return node

    tree = visit(tree)  # type: ignore[assignment]  # a module stays one
    kept = [one for one in tree.body if not (isinstance(one, ast.Import) and one.names[0].name.startswith("torch"))]
    rest = loaded(ast.Module(kept, [])) & {"torch", "torchvision"}
    tree.body = kept
    new: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in sorted(rest)]
    for full, name in wanted.items():
        module, _, tail = full.rpartition(".")
        new.append(ast.ImportFrom(module, [ast.alias(tail, name if name != tail else None)], 0))
    tree.body[first_place(tree) : first_place(tree)] = new
    return tree


def from_imports(tree: ast.Module) -> ast.Module:
    """`from torch.nn import Linear`: every name by itself."""

    def split(parts: list[str], read: bool) -> int:
        place = max((n for n in range(1, len(parts)) if ".".join(parts[:n]) in MODULES), default=0)
        last = not read and place == len(parts) - 1  # `cudnn.benchmark = True` needs the module
        return place - 1 if last else place

    return _imported_by(tree, split)


def submodules(tree: ast.Module) -> ast.Module:
    """`from torch import nn, optim`, `from torch.utils import data`, `from torch.nn import functional`."""

    def split(parts: list[str], read: bool) -> int:  # noqa: ARG001  # the shape that all have
        place = max((n for n in range(1, len(parts)) if ".".join(parts[:n]) in MODULES), default=0)
        return place - 1

    return _imported_by(tree, split)


# --- 2. everything in main() --------------------------------------------------------------------------------------------


def _movable(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """What must stay at the top of a file, and its last statements that bind nothing a function or class reads."""
    seen = globals_read(tree)
    stay, move = list(tree.body), []
    for one in reversed(tree.body):
        if isinstance(one, DEFINES):
            continue
        if stored(one) & seen or one in tree.body[: first_place(tree)]:
            break
        move.insert(0, one)
    late = [one for one in tree.body if isinstance(one, DEFINES) and loaded(_outside(one)) & bound_by(move)]
    return ([one for one in stay if one not in move], move) if not late else (stay, [])


def _outside(node: ast.stmt) -> ast.Module:
    """What a definition reads when it is made: decorators, bases, defaults."""
    parts: list[ast.expr] = [*getattr(node, "decorator_list", ()), *getattr(node, "bases", ())]
    parts += getattr(getattr(node, "args", None), "defaults", [])
    return ast.Module([ast.Expr(one) for one in parts], [])


def in_main(tree: ast.Module) -> ast.Module:
    """The top of the file in `def main()`, called under `if __name__ == "__main__"`."""
    stay, move = _movable(tree)
    if any(isinstance(one, ast.If) and "__name__" in loaded(one.test) for one in move) or not move:
        return tree
    name = fresh(used(tree), "main")
    call = ast.parse(f'if __name__ == "__main__":\n    {name}()').body
    tree.body = [*stay, function(name, [], move), *call]
    return tree


# --- 4. nested or not ---------------------------------------------------------------------------------------------------


def _hoist(tree: ast.Module, chosen: Callable[[ast.Call, ast.AST], bool]) -> ast.Module:
    """Calls that `chosen` picks (given what holds them) become variables of their own, in the statement before."""
    taken = used(tree)

    def lift(node: ast.AST, before: list[ast.stmt]) -> None:
        if isinstance(
            node, ast.Lambda | Comprehension | ast.IfExp | ast.BoolOp | ast.Compare | ast.JoinedStr | ast.NamedExpr
        ):
            return
        for field, value in ast.iter_fields(node):
            items = value if isinstance(value, list) else [value]
            for index, one in enumerate(items):
                inner = one.value if isinstance(one, ast.keyword) else one
                if not isinstance(inner, ast.expr):
                    continue
                lift(inner, before)
                if isinstance(inner, ast.Call) and chosen(inner, node):
                    name = fresh(taken, "held")
                    before.append(ast.Assign([ast.Name(name, ast.Store())], inner, lineno=0))
                    new = ast.Name(name, ast.Load())
                    if isinstance(one, ast.keyword):
                        one.value = new
                    elif isinstance(value, list):
                        value[index] = new
                    else:
                        setattr(node, field, new)

    for block in list(blocks(tree)):
        for statement in list(block):
            before: list[ast.stmt] = []
            if isinstance(statement, ast.Assign | ast.Expr | ast.AugAssign | ast.Return):
                lift(statement, before)
            elif isinstance(statement, ast.For):
                holder = ast.Expr(statement.iter)
                lift(holder, before)
                statement.iter = holder.value
            place = block.index(statement)
            block[place:place] = before
    return tree


def split_arguments(tree: ast.Module) -> ast.Module:
    """`loss = crit(net(x), y)` as `out = net(x)` and `loss = crit(out, y)`."""
    return _hoist(tree, lambda call, holder: isinstance(holder, ast.Call) and call is not holder.func)


def split_receivers(tree: ast.Module) -> ast.Module:
    """`crit(out, y).backward()` as `loss = crit(out, y)` and `loss.backward()`."""

    def chosen(call: ast.Call, holder: ast.AST) -> bool:
        of_super = isinstance(call.func, ast.Name) and call.func.id == "super"
        return isinstance(holder, ast.Attribute) and not of_super

    return _hoist(tree, chosen)


def inlined(tree: ast.Module) -> ast.Module:
    """`out = net(x)`, `loss = crit(out, y)` as `loss = crit(net(x), y)`, for variables that are read once, right away."""
    counts = Counter(one.id for one in found(tree, ast.Name))
    outside = {one for node in found(tree, ast.Global, ast.Nonlocal) for one in node.names}
    for block in list(blocks(tree)):
        place = 0
        while place + 1 < len(block):
            first, second = block[place], block[place + 1]
            target = first.targets[0] if isinstance(first, ast.Assign) and len(first.targets) == 1 else None
            once = isinstance(target, ast.Name) and counts[target.id] == 2 and target.id not in outside
            if (
                once
                and isinstance(second, ast.Assign | ast.Expr | ast.Return | ast.AugAssign)
                and _comesfirst_place(second, target.id)
            ):
                block[place : place + 2] = [renamed(second, {target.id: first.value})]
                place = max(place - 1, 0)
            else:
                place += 1
    return tree


def _comesfirst_place(statement: ast.stmt, name: str) -> bool:
    """Whether the statement reads the name, and runs no call before."""
    value = statement.value if isinstance(statement, ast.Assign | ast.Expr | ast.Return | ast.AugAssign) else None

    def walk(node: ast.AST) -> str:
        if isinstance(node, ast.Name) and node.id == name:
            return "read"
        if isinstance(node, ast.Lambda | Comprehension | ast.IfExp | ast.BoolOp):
            return "stop" if any(isinstance(one, ast.Name | ast.Call) for one in ast.walk(node)) else ""
        for child in ast.iter_child_nodes(node):
            if said := walk(child):
                return said
        return "stop" if isinstance(node, ast.Call) else ""

    return value is not None and walk(value) == "read"


# --- 5. by position or by name ------------------------------------------------------------------------------------------

_INPUT = "input target"
SIGNATURES = {
    "torch.optim.SGD": "params lr momentum dampening weight_decay nesterov",
    "torch.optim.Adam": "params lr betas eps weight_decay amsgrad",
    "torch.optim.AdamW": "params lr betas eps weight_decay amsgrad",
    "torch.optim.RMSprop": "params lr alpha eps weight_decay momentum",
    "torch.optim.Adagrad": "params lr lr_decay weight_decay",
    "torch.optim.lr_scheduler.StepLR": "optimizer step_size gamma",
    "torch.optim.lr_scheduler.MultiStepLR": "optimizer milestones gamma",
    "torch.optim.lr_scheduler.ExponentialLR": "optimizer gamma",
    "torch.optim.lr_scheduler.CosineAnnealingLR": "optimizer T_max eta_min",
    "torch.optim.lr_scheduler.LambdaLR": "optimizer lr_lambda",
    "torch.optim.lr_scheduler.OneCycleLR": "optimizer max_lr total_steps",
    "torch.optim.lr_scheduler.ReduceLROnPlateau": "optimizer mode factor patience",
    "torch.utils.data.DataLoader": "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn",
    "torch.utils.data.random_split": "dataset lengths generator",
    "torch.utils.data.Subset": "dataset indices",
    "torch.nn.Linear": "in_features out_features bias",
    "torch.nn.Conv1d": "in_channels out_channels kernel_size stride padding dilation groups bias",
    "torch.nn.Conv2d": "in_channels out_channels kernel_size stride padding dilation groups bias",
    "torch.nn.ConvTranspose2d": "in_channels out_channels kernel_size stride padding output_padding",
    "torch.nn.BatchNorm1d": "num_features eps momentum",
    "torch.nn.BatchNorm2d": "num_features eps momentum",
    "torch.nn.GroupNorm": "num_groups num_channels",
    "torch.nn.LayerNorm": "normalized_shape eps",
    "torch.nn.Embedding": "num_embeddings embedding_dim padding_idx",
    "torch.nn.LSTM": "input_size hidden_size num_layers bias batch_first dropout bidirectional",
    "torch.nn.GRU": "input_size hidden_size num_layers bias batch_first dropout bidirectional",
    "torch.nn.MultiheadAttention": "embed_dim num_heads dropout",
    "torch.nn.TransformerEncoderLayer": "d_model nhead dim_feedforward dropout",
    "torch.nn.Dropout": "p inplace",
    "torch.nn.Softmax": "dim",
    "torch.nn.LogSoftmax": "dim",
    "torch.nn.Upsample": "size scale_factor mode",
    "torch.nn.MaxPool2d": "kernel_size stride padding",
    "torch.nn.AvgPool2d": "kernel_size stride padding",
    "torch.nn.DataParallel": "module device_ids",
    "torch.nn.Parameter": "data requires_grad",
    "torch.nn.CrossEntropyLoss": "weight",
    "torch.nn.utils.clip_grad_norm_": "parameters max_norm norm_type",
    "torch.nn.utils.clip_grad_value_": "parameters clip_value",
    "torch.nn.utils.rnn.pad_sequence": "sequences batch_first padding_value",
    "torch.nn.utils.rnn.pack_padded_sequence": "input lengths batch_first enforce_sorted",
    "torch.nn.functional.cross_entropy": f"{_INPUT} weight",
    "torch.nn.functional.nll_loss": f"{_INPUT} weight",
    "torch.nn.functional.mse_loss": _INPUT,
    "torch.nn.functional.l1_loss": _INPUT,
    "torch.nn.functional.smooth_l1_loss": _INPUT,
    "torch.nn.functional.kl_div": _INPUT,
    "torch.nn.functional.binary_cross_entropy": f"{_INPUT} weight",
    "torch.nn.functional.binary_cross_entropy_with_logits": f"{_INPUT} weight",
    "torch.nn.functional.softmax": "input dim",
    "torch.nn.functional.log_softmax": "input dim",
    "torch.nn.functional.relu": "input inplace",
    "torch.nn.functional.dropout": "input p training inplace",
    "torch.nn.functional.normalize": "input p dim",
    "torch.nn.functional.one_hot": "tensor num_classes",
    "torch.nn.functional.pad": "input pad mode value",
    "torch.nn.functional.interpolate": "input size scale_factor mode",
    "torch.nn.functional.linear": "input weight bias",
    "torch.nn.functional.conv2d": "input weight bias stride padding",
    "torch.nn.functional.cosine_similarity": "x1 x2 dim",
    "torch.nn.functional.gumbel_softmax": "logits tau hard",
    "torch.softmax": "input dim",
    "torch.log_softmax": "input dim",
    "torch.cat": "tensors dim",
    "torch.stack": "tensors dim",
    "torch.argmax": "input dim",
    "torch.mean": "input dim",
    "torch.sum": "input dim",
    "torch.max": "input dim",
    "torch.topk": "input k dim",
    "torch.save": "obj f",
    "torch.load": "f map_location",
    "torch.tensor": "data",
    "torch.as_tensor": "data",
    "torch.clamp": "input min max",
    "torch.squeeze": "input dim",
    "torch.unsqueeze": "input dim",
    "torch.flatten": "input start_dim end_dim",
    "torch.sqrt": "input",
    "torch.log": "input",
    "torch.exp": "input",
    "torch.sigmoid": "input",
    "torch.relu": "input",
    "torch.manual_seed": "seed",
    "torch.set_grad_enabled": "mode",
    "torch.compile": "model",
    "torch.utils.checkpoint.checkpoint": "function",
    "torch.autograd.grad": "outputs inputs grad_outputs retain_graph create_graph",
}
METHODS = {
    "backward": "gradient retain_graph create_graph",
    "load_state_dict": "state_dict strict",
    "softmax": "dim",
    "log_softmax": "dim",
    "argmax": "dim keepdim",
    "unsqueeze": "dim",
    "squeeze": "dim",
    "flatten": "start_dim end_dim",
    "transpose": "dim0 dim1",
    "detach_": "",
    "clamp": "min max",
    "requires_grad_": "requires_grad",
    "zero_grad": "set_to_none",
    "unscale_": "optimizer",
}


def by_keyword(tree: ast.Module) -> ast.Module:
    """`SGD(params=net.parameters(), lr=0.1)`: every argument of a well-known function by its name."""
    table = imports(tree)
    for call in found(tree, ast.Call):
        names = _signature(table, call)
        if len(call.args) <= len(names) and not any(isinstance(one, ast.Starred) for one in call.args):
            call.keywords = [*map(ast.keyword, names, call.args), *call.keywords]
            call.args = []
    return tree


def by_position(tree: ast.Module) -> ast.Module:
    """`SGD(net.parameters(), 0.1)`: every argument that can be by its place."""
    table = imports(tree)
    for call in found(tree, ast.Call):
        names = _signature(table, call)
        while len(call.args) < len(names) and not any(isinstance(one, ast.Starred) for one in call.args):
            given = next((one for one in call.keywords if one.arg == names[len(call.args)]), None)
            if given is None:
                break
            call.keywords.remove(given)
            call.args.append(given.value)
    return tree


def _signature(table: dict[str, str], call: ast.Call) -> list[str]:
    full = full_name(table, call.func)
    method = call.func.attr if isinstance(call.func, ast.Attribute) and not full else ""
    return SIGNATURES.get(full, METHODS.get(method, "")).split()


# --- 8. small words -----------------------------------------------------------------------------------------------------


def written_out(tree: ast.Module) -> ast.Module:
    """`a += b` as `a = a + b`."""

    def change(node: ast.stmt) -> list[ast.stmt]:
        if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name | ast.Attribute):
            return [node]
        read = (
            dotted(ast.unparse(node.target))
            if isinstance(node.target, ast.Name)
            else ast.parse(ast.unparse(node.target), mode="eval").body
        )
        return [ast.Assign([node.target], ast.BinOp(read, node.op, node.value), lineno=0)]

    return Statements(change).visit(tree)


def augmented(tree: ast.Module) -> ast.Module:
    """`a = a + b` as `a += b`, for names that somewhere are a number."""
    numbers = {
        target.id
        for one in found(tree, ast.Assign)
        if isinstance(one.value, ast.Constant)
        for target in one.targets
        if isinstance(target, ast.Name)
    }

    def change(node: ast.stmt) -> list[ast.stmt]:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name) or target.id not in numbers:
            return [node]
        value = node.value
        same = isinstance(value, ast.BinOp) and isinstance(value.left, ast.Name) and value.left.id == target.id
        return [ast.AugAssign(target, value.op, value.right)] if isinstance(value, ast.BinOp) and same else [node]

    return Statements(change).visit(tree)


def unpacked_inside(tree: ast.Module) -> ast.Module:
    """`for batch in loader:` and `x, y = batch`, with and without `enumerate`."""
    taken = used(tree)

    def change(node: ast.stmt) -> list[ast.stmt]:
        if not isinstance(node, ast.For):
            return [node]
        counted = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "enumerate"
        if counted and isinstance(node.target, ast.Tuple) and isinstance(node.target.elts[1], ast.Tuple):
            inner: ast.expr = node.target.elts[1]
        elif isinstance(node.target, ast.Tuple) and isinstance(node.iter, ast.Name | ast.Attribute):
            inner = node.target
        else:
            return [node]
        name = fresh(taken, "batch")
        if inner is node.target:
            node.target = ast.Name(name, ast.Store())
        elif isinstance(node.target, ast.Tuple):
            node.target.elts[1] = ast.Name(name, ast.Store())
        node.body.insert(0, ast.Assign([inner], ast.Name(name, ast.Load()), lineno=0))
        return [node]

    return Statements(change).visit(tree)


def by_index(tree: ast.Module) -> ast.Module:
    """`for batch in loader:` and `x = batch[0]`, `y = batch[1]`."""
    tree = unpacked_inside(tree)

    def change(node: ast.stmt) -> list[ast.stmt]:
        if (
            not isinstance(node, ast.Assign)
            or not isinstance(node.value, ast.Name)
            or not node.value.id.startswith("batch")
        ):
            return [node]
        target = node.targets[0]
        if not isinstance(target, ast.Tuple) or any(isinstance(one, ast.Starred) for one in target.elts):
            return [node]
        parts = (ast.Subscript(node.value, ast.Constant(index), ast.Load()) for index in range(len(target.elts)))
        return [ast.Assign([one], part, lineno=0) for one, part in zip(target.elts, parts, strict=True)]

    return Statements(change).visit(tree)


def with_progress(tree: ast.Module) -> ast.Module:
    """`for x, y in tqdm(loader):`, and `for step, batch in enumerate(tqdm(loader)):`."""
    if "tqdm" in stored(tree):
        return tree
    changed = False
    for node in found(tree, ast.For):
        counted = (
            isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "enumerate" and len(node.iter.args) == 1
        )
        inner = node.iter.args[0] if isinstance(node.iter, ast.Call) and counted else node.iter
        if not isinstance(inner, ast.Name | ast.Attribute) or not LOADER.search(ast.unparse(inner)):
            continue
        wrapped = ast.Call(ast.Name("tqdm", ast.Load()), [inner], [])
        if isinstance(node.iter, ast.Call):
            node.iter.args[0] = wrapped
        else:
            node.iter = wrapped
        changed = True
    if changed:
        tree.body.insert(first_place(tree), ast.ImportFrom("tqdm", [ast.alias("tqdm")], 0))
    return tree


LOADER = re.compile(r"load|dl$|batch|data|train|test|val")
_GRADLESS = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad")


def decorated(tree: ast.Module) -> ast.Module:
    """A function that is all `with torch.no_grad():` as one that is decorated."""
    table = imports(tree)
    for node in found(tree, ast.FunctionDef):
        start = 1 if ast.get_docstring(node) is not None else 0
        only = node.body[start] if len(node.body) == start + 1 else None
        if isinstance(only, ast.With) and len(only.items) == 1:
            context = only.items[0].context_expr
            if isinstance(context, ast.Call) and full_name(table, context.func) in _GRADLESS:
                node.decorator_list.append(context)
                node.body[start:] = only.body
    return tree


def undecorated(tree: ast.Module) -> ast.Module:
    """A function under `@torch.no_grad()` as one whose body stands in `with torch.no_grad():`."""
    table = imports(tree)
    for node in found(tree, ast.FunctionDef):
        for one in list(node.decorator_list):
            if isinstance(one, ast.Call) and full_name(table, one.func) in _GRADLESS:
                node.decorator_list.remove(one)
                node.body = [ast.With([ast.withitem(one)], node.body, lineno=0)]
    return tree


STYLES: dict[str, Callable[[ast.Module], ast.Module]] = {
    "full names": full_names,
    "torch as th": short_torch,
    "from imports": from_imports,
    "submodules": submodules,
    "in main": in_main,
    "arguments split": split_arguments,
    "receivers split": split_receivers,
    "inlined": inlined,
    "by keyword": by_keyword,
    "by position": by_position,
    "a = a + b": written_out,
    "a += b": augmented,
    "unpacked inside": unpacked_inside,
    "by index": by_index,
    "tqdm": with_progress,
    "decorated": decorated,
    "undecorated": undecorated,
    **MORE,
}


def rewritten(text: str, style: str) -> str:
    """The text in this style; the same as `plain(text)` where there is nothing to rewrite."""
    return ast.unparse(ast.fix_missing_locations(STYLES[style](ast.parse(text))))


def plain(text: str) -> str:
    """The text as every rewriting would leave it: comments and layout gone."""
    return ast.unparse(ast.parse(text))
