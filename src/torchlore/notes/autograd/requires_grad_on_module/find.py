"""The rule of requires-grad-on-module."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, paths, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_BARE = regex(r"(?:pool|relu|dropout|softmax|flatten)\w*$", re.IGNORECASE)  # has no parameters to freeze
_WALKS = ("parameters", "named_parameters")
_STARTS, _ENDS = ("require", "requires", "require_", "requires_"), ("grad", "grads", "gradient")
_WRITTEN = {f"{start}{end}" for start in _STARTS for end in _ENDS}

WORDS = ("|".join([*sorted(_WRITTEN), "requires_grad_"]),)


def find(source: Source) -> Iterator[Hit]:
    for assign in dict.fromkeys(source.parents[one] for one in uses.any_attributes(source, _WRITTEN)):
        if not isinstance(assign, ast.Assign):
            continue
        for target in assign.targets:
            if isinstance(target, ast.Attribute) and target.attr in _WRITTEN:
                whole = target.attr == "requires_grad"
                yield from _on_module(source, assign, target) if whole else _misspelt(source, assign, target)
    if "requires_grad" in source.text:
        yield from (*_undone(source), *_no_such_name(source), *_compared(source), *_by_name(source))


def _on_module(source: Source, assign: ast.Assign, target: ast.Attribute) -> Iterator[Hit]:
    owner, value = source.code(target.value), source.code(assign.value)
    told = tree.literal(assign.value) in (True, False) and owner != "self" and not _BARE.search(owner)
    if not told or _is_walked(source, target.value):
        return
    if (values.sure(source, target.value, "module") or _is_child(source, target.value)) and not _one_by_one(
        source, assign, owner
    ):
        edit = edits.replace(source, assign, f"{owner}.requires_grad_({value})")
        message = f"`{owner}` is a module, so this changes none of its parameters: write `{edit.text}`"
        new = tree.literal(assign.value) is True and _is_new(source, assign, owner)
        yield source.hit(
            assign, message, *([edit] if len(assign.targets) == 1 else []), severity="hint" if new else None
        )


def _is_new(source: Source, assign: ast.Assign, owner: str) -> bool:
    """`net.fc = nn.Linear(n, m)` further up in the function: it learns anyway."""
    home = tree.function(source, assign) or source.tree
    above = (one for one in tree.under(source, home, ast.Assign) if one.lineno < assign.lineno)
    made = [one.value for one in above if source.code(one.targets[0]) == owner]
    return bool(made) and isinstance(made[-1], ast.Call) and source.name(made[-1].func).startswith("torch.nn.")


def _is_child(source: Source, node: ast.expr) -> bool:
    """`part` of `for part in net.children()`: what has children and a flag for gradients is a module."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    over = [one.value for one in bound if one.how == "for" and one.value is not None]
    walks = [one for one in over if follow.method(one) in ("children", "named_children")]
    last = all(one.path in ((), (1,)) for one in bound)
    return bool(bound) and len(walks) == len(bound) and last


def _is_walked(source: Source, node: ast.expr) -> bool:
    """`p` of `for p in net.parameters()`, the usual way."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    walked = (one.how == "for" and one.value is not None and follow.method(one.value) in _WALKS for one in bound)
    return bool(bound) and all(walked)


def _by_name(source: Source) -> Iterator[Hit]:
    """`setattr(net.body, "requires_grad", False)`."""
    for call in source.calls("setattr"):
        given = call.args if len(call.args) == 3 else []
        if given and tree.literal(given[1]) == "requires_grad" and values.sure(source, given[0], "module"):
            edit = edits.replace(source, call, f"{source.code(given[0])}.requires_grad_({source.code(given[2])})")
            told = f"`{source.code(given[0])}` is a module, so this changes none of its parameters: write `{edit.text}`"
            yield source.hit(call, told, edit)


def _one_by_one(source: Source, assign: ast.Assign, owner: str) -> bool:
    """Whether the function goes over the parameters of the same module as well, and sets each."""
    home = tree.function(source, assign)
    same = (one for one in source.methods(*_WALKS) if tree.function(source, one) is home)
    around = [source.parents[one] for one in same if source.code(tree.receiver(one)) == owner]
    sets = (part for one in around if isinstance(one, ast.For) for part in tree.under(source, one, ast.Attribute))
    return any(part.attr in ("requires_grad", "requires_grad_") for part in sets)


def _misspelt(source: Source, assign: ast.Assign, target: ast.Attribute) -> Iterator[Hit]:
    if _read(source, target) or not values.sure(source, target.value, "tensor", "module"):
        return  # an option of the class, by a like name
    owner, value = source.code(target.value), source.code(assign.value)
    fixed = f"{owner}.requires_grad_({value})"
    message = f"`{target.attr}` is a new attribute that nobody reads: write `{fixed}`"
    harmless = value == "False" and not values.sure(source, target.value, "parameter", "module")
    edit = edits.replace(source, assign, fixed)
    yield source.hit(assign, message, edit, severity="hint" if harmless else "error")


def _undone(source: Source) -> Iterator[Hit]:
    """Some parameters are frozen, and the next loop over all of them, beside it, sets the flag again."""
    for thaw in source.all(ast.For):
        net = _over_parameters(source, thaw)
        switch = next((one for one in thaw.body if _sets(one, tree.dotted(_last(thaw.target)), True)), None)
        block: list[ast.stmt] = getattr(source.parents[thaw], "body", [])
        if not net or switch is None or thaw not in block:
            continue
        for before in reversed(block[: block.index(thaw)]):
            if isinstance(before, ast.For) and _over_parameters(source, before) == net:
                name = tree.dotted(_last(before.target))
                some = [one for one in ast.walk(before) if isinstance(one, ast.If)]
                if any(_sets(one, name, False) for choice in some for one in choice.body):
                    told = f"this makes every parameter of `{net}` trainable again, also those frozen in line {before.lineno}: leave it out"
                    yield source.hit(switch, told)
                break
            if not isinstance(before, ast.Assign) or any(isinstance(one, ast.Call) for one in ast.walk(before)):
                break  # it may have trained in between


def _compared(source: Source) -> Iterator[Hit]:
    """`p.requires_grad == False` as a line of its own."""
    for one in source.all(ast.Expr):
        test = one.value
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Attribute) and test.left.attr == "requires_grad":
            fixed = f"{source.code(test.left)} = {source.code(test.comparators[0])}"
            edit = [edits.replace(source, test, fixed)] if isinstance(test.ops[0], ast.Eq) else []
            yield source.hit(test, f"this compares and changes nothing: write `{fixed}`", *edit)


def _no_such_name(source: Source) -> Iterator[Hit]:
    """`if name.startswith("backbone."): p.requires_grad = False` over a model none of whose parameters is called so."""
    for loop in source.all(ast.For):
        call, target = loop.iter, loop.target
        named = isinstance(call, ast.Call) and follow.method(call) == "named_parameters" and not call.args
        if not named or not isinstance(call, ast.Call) or not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            continue
        name, held = tree.dotted(target.elts[0]), tree.dotted(target.elts[1])
        chosen = next((one for one in loop.body if isinstance(one, ast.If)), None)
        sets = chosen is not None and any(_sets(one, held, flag) for one in chosen.body for flag in (True, False))
        asked = paths.words(source, chosen.test, name) if sets and chosen is not None else []
        made = source.values(tree.receiver(call)) if asked else ()
        known = [paths.steps(source, one) for one in made]
        parts = set().union(*(one for one in known if one is not None)) if known and None not in known else set()
        if parts and not any(_found(word, parts) for word, _ in asked):
            word, place = asked[0]
            told = f"no parameter of this model has `{word}` in its name, so nothing is chosen here: its parts are called {_some(made[0], source)}"
            yield source.hit(place, told, severity="warning")


def _found(word: str, parts: set[str]) -> bool:
    """Whether a path may hold the word; `body.0.` asks for `body` and a number."""
    pieces = [one for one in word.split(".") if one and not one.isdigit()]
    return all(any(one in part for part in parts) for one in pieces)


def _some(value: values.Value, source: Source) -> str:
    """The first names of the model's own parts."""
    owner = classes.class_behind(source, value)
    held = classes.attributes(owner).items() if owner is not None else ()
    names = [
        name
        for name, found in held
        if any(one.value is not None and values.sure(one.source, one.value, "module") for one in found)
    ]
    return ", ".join(f"`{name}`" for name in names[:3])


def _over_parameters(source: Source, loop: ast.For) -> str:
    """`net` of `for name, p in net.named_parameters():`."""
    call = loop.iter
    listed = isinstance(call, ast.Call) and follow.method(call) in _WALKS and not call.args
    return source.code(tree.receiver(call)) if listed and isinstance(call, ast.Call) else ""


def _last(target: ast.expr) -> ast.expr:
    return target.elts[-1] if isinstance(target, ast.Tuple) else target


def _sets(statement: ast.stmt, name: str, flag: bool) -> bool:
    """`p.requires_grad = flag`, `p.requires_grad_(flag)`."""
    if isinstance(statement, ast.Assign):
        return tree.dotted(statement.targets[0]) == f"{name}.requires_grad" and tree.literal(statement.value) is flag
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or tree.dotted(call.func) != f"{name}.requires_grad_":
        return False
    given = tree.argument(call, 0, "requires_grad")
    return tree.literal(given) is flag if given is not None else flag


def _read(source: Source, target: ast.Attribute) -> bool:
    """Whether somebody reads `self.require_grad` in the file."""
    same = (one for one in uses.attributes(source, target.attr) if isinstance(one.ctx, ast.Load))
    return tree.dotted(target.value) == "self" and any(tree.dotted(one.value) == "self" for one in same)
