"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, scopes, tensors, tree, uses, values
from torchlore.check.project import Class, candidates
from torchlore.check.source import Hit, Source

_TERM = re.compile(
    r"(^|_)(loss|losses|alpha|weights?|penalty|reg|kl|kld|kl_div|entropy|mask|coeff?|focal)(_t|_term|_loss)?$",
    re.IGNORECASE,
)
_SUM = re.compile(r"^(total_?)?(loss|losses)(_total)?$", re.IGNORECASE)
_OPTION = re.compile(
    r"^(margin|gamma|alpha|beta|temperature|smoothing|smooth|pos_weight|class_weights?|ignore_index|reduction|label_smoothing)$"
)
_WEIGHT = re.compile(
    r"^(kld?_(coeff?|weight|beta)|\w*loss_(weight|coeff?)|lambda_\w+|\w+_lambda|(entropy|value|ent|vf|critic|policy)_(loss_)?coeff?|"
    r"label_smoothing|max_grad_norm|clip_grad_norm|grad_clip|clip_grad|accumulation_steps|grad_accum\w*|gradient_accumulation_steps)$"
)
_BETA = re.compile(r"^(beta|kl_scale|kld_scale)$")
_BETAS = {"beta", "kl_scale", "kld_scale", "kl_weight", "kld_weight", "kl_coef", "kl_coeff"}
_SETTINGS = re.compile(r"(^|\.|_)(args?|opts?|cfg|config|conf|hparams|hps?|params|flags)$", re.IGNORECASE)
_SPLIT = re.compile(r"(train|val|valid|dev|test|eval|avg|mean|epoch|running|best|last)_")
_LOSS = re.compile(r"loss|criterion", re.IGNORECASE)
WORDS = ("*loss*",)


def find(source: Source) -> Iterator[Hit]:
    yield from _unweighted(source)
    trained = {up for call in source.methods("backward") for up in tree.ancestors(source, call)}
    for home in source.all(ast.FunctionDef):
        if (
            (home in trained or _is_loss(source, home))
            and not follow.in_test(source, home.body[0])
            and not any(word in source.code(home) for word in ("locals()", "eval(", "exec("))
        ):
            for name, value in _unread(source, home):
                yield source.hit(value, f"`{name}` is computed here and never used: the loss is without it")
    yield from (*_plus(source), *_part_only(source), *_too_late(source), *_set_anew(source))
    for cls in classes.all_classes(source):
        words = _OPTION if _LOSS.search(cls.node.name) else _WEIGHT
        named = any(words.match(one) or _BETA.match(one) for one in classes.own_attributes(cls))
        if named and _is_plain(source, cls) and not _part_of_others(source, cls):
            yield from _options(source, cls, words)
            if _summed(source, cls.node, "beta") is not None:
                yield from _options(source, cls, _BETA)


def _is_plain(source: Source, cls: Class) -> bool:
    """Whether all of it stands here, and it does more than hold the program's settings."""
    above, outside = source.project.bases(cls)
    settings = not outside - {"object"} and re.search(r"conf|cfg|setting|option|param|args", cls.node.name.lower())
    return len(above) == 1 and outside <= {"torch.nn.Module", "object"} and not settings


def _plus(source: Source) -> Iterator[Hit]:
    """`loss =+ term`, and `seen =+ len(y)` in a loop."""
    for assign in source.all(ast.Assign) if "=+" in source.text else ():
        name, plus = tree.dotted(assign.targets[0]), assign.value
        while isinstance(plus, ast.BinOp):
            plus = plus.left
        written = isinstance(plus, ast.UnaryOp) and isinstance(plus.op, ast.UAdd)
        before = written and "=+" in source.code(assign) and _is_set_before(source, assign, name)
        if (before and _TERM.search(name)) or (written and "=+" in source.code(assign) and _grows(source, assign)):
            yield source.hit(assign, f"`=+` sets `{name}` to the new term, and what it was before is lost: write `+=`")


def _grows(source: Source, assign: ast.Assign) -> bool:
    """Whether each turn of a loop sets a name that begins before the loop, or is read behind it."""
    name, around = assign.targets[0], tree.loops(source, assign)
    if not isinstance(name, ast.Name) or not around:
        return False
    home = tree.function(source, assign)
    same = [one for one in uses.names(source, name.id) if tree.function(source, one) is home and one is not name]
    outside = [one for one in same if not tree.inside(source, one, around[-1])]
    return any(isinstance(one.ctx, ast.Store) == (one.lineno < assign.lineno) for one in outside)


def _set_anew(source: Source) -> Iterator[Hit]:
    """`if a: loss += x` and below `if b: loss = y`: where the second holds, the first is lost."""
    for held in source.all(ast.Assign):
        name, around = held.targets[0], source.parents[held]
        chosen = isinstance(around, ast.If) and held in around.body and not around.orelse
        if not chosen or not isinstance(name, ast.Name) or not _SUM.search(name.id) or len(held.targets) > 1:
            continue
        home = tree.function(source, held) or source.tree
        same = [one for one in uses.names(source, name.id) if tree.function(source, one) is tree.function(source, held)]
        before = [
            one for one in same if one.lineno < held.lineno and tree.loops(source, one) == tree.loops(source, held)
        ]
        added = [one for one in before if isinstance(source.parents[one], ast.AugAssign) and _is_added(source, one)]
        last = added[-1] if added else None
        between = [
            one for one in same if last is not None and last.lineno < one.lineno <= held.lineno and one is not name
        ]
        again = [one for one in same if one.lineno > held.lineno and _is_added(source, one)]
        made = any(isinstance(one, ast.Call | ast.BinOp) for one in ast.walk(held.value))
        if (
            last is None
            or between
            or not made
            or follow.exclusive(source, last, held)
            or source.parents[around] is not home
        ):
            continue
        if len(added) + len(again) > 1 and tree.statement(source, last) in _blocks_of(home):
            told = f"`{name.id}` is set anew here, and what was added in line {last.lineno} and above is lost"
            yield source.hit(held, f"{told}: write `{name.id} +=`", severity="warning")


def _is_added(source: Source, name: ast.Name) -> bool:
    up = source.parents[name]
    return isinstance(up, ast.AugAssign) and isinstance(up.op, ast.Add) and up.target is name


def _blocks_of(home: ast.AST) -> list[ast.stmt]:
    """The statements of a function, and those of an `if` in it that has no other branch."""
    body: list[ast.stmt] = getattr(home, "body", [])
    return [*body, *(part for one in body if isinstance(one, ast.If) and not one.orelse for part in one.body)]


def _part_only(source: Source) -> Iterator[Hit]:
    """`loss, aux, total = losses(...)` and `loss.backward()`, where `total` is their sum and is only looked at."""
    for call in source.methods("backward"):
        part, home = tree.receiver(call), tree.function(source, call)
        mine = scopes.reaching(source, part) if isinstance(part, ast.Name) and home is not None else []
        if len(mine) != 1 or home is None or not mine[0].path or not isinstance(mine[0].value, ast.Call):
            continue
        target = getattr(mine[0].statement, "targets", [None])[0]
        inner = flow.called(source, mine[0].value)
        back = calls.returned(inner) if inner is not None and inner.source is source else []
        parts = back[0].elts if len(back) == 1 and isinstance(back[0], ast.Tuple) else []
        names = target.elts if isinstance(target, ast.Tuple) and len(target.elts) == len(parts) else []
        done = {tree.dotted(tree.receiver(one)) for one in source.methods("backward") if tree.inside(source, one, home)}
        for name, given in zip(names, parts if names else (), strict=True):
            whole = follow.followed(source, given)
            added = {one.id for one in ast.walk(whole) if isinstance(one, ast.Name)} if _is_sum(whole) else set()
            same = tree.dotted(parts[mine[0].path[0]]) if mine[0].path[0] < len(parts) else ""
            others = {tree.dotted(one) for one, value in zip(names, parts, strict=True) if tree.dotted(value) in added}
            if same in added and done == {tree.dotted(part)} and len(others) > 1 and _only_shown(source, home, name):
                told = f"`{tree.dotted(name)}` is the sum of all terms, and only `{tree.dotted(part)}` of it is differentiated: call `{tree.dotted(name)}.backward()`"
                yield source.hit(call, told, severity="warning")


def _differentiated(source: Source, term: ast.expr, loss: ast.Name) -> bool:
    """Whether a term has its own `backward()`, or is in the loss already: the sum is only shown."""
    own = any(tree.dotted(tree.receiver(one)) == tree.dotted(term) for one in source.methods("backward"))
    made = follow.followed(source, loss)
    return own or tree.dotted(term) in {one.id for one in ast.walk(made) if isinstance(one, ast.Name)}


def _too_late(source: Source) -> Iterator[Hit]:
    """`loss.backward()`, and then `loss = loss + weight * penalty`, which nobody differentiates."""
    for call in source.methods("backward"):
        loss, done = tree.receiver(call), tree.statement(source, call)
        if not isinstance(loss, ast.Name):
            continue
        block = next((one for one in tree.blocks(source.parents[done]) if done in one), [done])
        for later in block[block.index(done) + 1 :]:
            stores = (one for one in tree.under(source, later, ast.Name) if isinstance(one.ctx, ast.Store))
            added = _added(later, loss)
            if added is None and any(one.id == loss.id for one in stores):
                break  # another loss
            if any(one.attr == "backward" for one in tree.under(source, later, ast.Attribute)):
                break
            if (
                added is not None
                and values.attached(source, added) is True
                and not _differentiated(source, added, loss)
            ):
                told = f"`{source.code(added)}` is added after `{loss.id}.backward()`, so it sends no gradient"
                yield source.hit(later, f"{told}: add it before", severity="warning")
                break


def _added(statement: ast.stmt, name: ast.Name) -> ast.expr | None:
    """`x` of `loss += x` and of `loss = loss + x`."""
    if isinstance(statement, ast.AugAssign):
        return (
            statement.value if tree.dotted(statement.target) == name.id and isinstance(statement.op, ast.Add) else None
        )
    value = (
        statement.value if isinstance(statement, ast.Assign) and tree.dotted(statement.targets[0]) == name.id else None
    )
    both = (value.left, value.right) if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) else ()
    return next((other for one, other in (both, both[::-1]) if tree.dotted(one) == name.id), None) if both else None


def _is_sum(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _only_shown(source: Source, home: ast.AST, name: ast.expr) -> bool:
    """Whether a name is read to print or log its number, and for nothing else."""
    reads = [one for one in tree.under(source, home, ast.Name) if one.id == tree.dotted(name) and one is not name]
    ups = [source.parents[one] for one in reads if isinstance(one.ctx, ast.Load)]
    return all(
        (isinstance(up, ast.Attribute) and up.attr in ("item", "detach", "cpu", "data"))
        or (isinstance(up, ast.Call) and source.name(up.func) in ("float", "print"))
        or isinstance(up, ast.FormattedValue)
        for up in ups
    )


def _unweighted(source: Source) -> Iterator[Hit]:
    """`def loss_function(x, y, mu, logvar, beta=4.0): ... return recon + kl`."""
    for arg in source.all(ast.arg):
        home = source.parents[source.parents[arg]]
        if arg.arg not in _BETAS or not isinstance(home, ast.FunctionDef):
            continue
        read = any(one.id == arg.arg for one in tree.under(source, home, ast.Name))
        place = _summed(source, home, arg.arg) if not read and "locals()" not in source.code(home) else None
        if place is not None and tree.method_class(source, home) is None:
            yield source.hit(place, f"`{arg.arg}` is never read, so the KL term has the weight 1: multiply by it")


def _is_set_before(source: Source, assign: ast.Assign, name: str) -> bool:
    home = tree.function(source, assign) or source.tree
    before = (one for one in tree.under(source, home, ast.Assign) if one.lineno < assign.lineno)
    return any(tree.dotted(target) == name for one in before for target in one.targets)


def _is_loss(source: Source, home: ast.FunctionDef) -> bool:
    """Whether a function computes a loss by its name, or its class's."""
    owner = tree.method_class(source, home) if home.name in ("forward", "__call__") else None
    return _LOSS.search(home.name) is not None or (owner is not None and _LOSS.search(owner.name) is not None)


def _steps_itself(source: Source, made: ast.expr | None) -> bool:
    """`loss = self._update_critic(batch)`, which has done its own backward pass."""
    inner = flow.called(source, made) if isinstance(made, ast.Call) else None
    return inner is not None and ".backward(" in inner.source.code(inner.node)


def _terms(source: Source) -> list[str]:
    """The names of the file that are called like a part of a loss."""
    found: list[str] | None = source.memo.get("term_never_used")
    if found is None:
        found = [one for one in scopes.binders(source) if _TERM.search(one) and not _SPLIT.match(one)]
        source.memo["term_never_used"] = found
    return found


def _unread(source: Source, home: ast.FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    """Terms that one plain assignment makes by computing something, and that nobody reads."""
    for name in _terms(source):
        bound = scopes.bound(source, name).get(home, [])
        if len(bound) != 1 or bound[0].how != "assign" or bound[0].path:
            continue
        one = bound[0]
        made = one.value
        while (
            isinstance(made, ast.Call)
            and isinstance(made.func, ast.Attribute)
            and made.func.attr in ("to", "cuda", "float", "mean")
        ):
            made = made.func.value
        key = tree.literal(made.slice) if isinstance(made, ast.Subscript) else None
        taken = isinstance(key, str) and "mask" in name  # which a batch may hold for others
        computes = isinstance(made, ast.BinOp | ast.Subscript) or (isinstance(made, ast.Call) and bool(made.args))
        computes &= not taken
        computes &= not (isinstance(made, ast.Call) and source.name(made.func) in ("float", "int"))  # a number, no term
        computes &= not _is_start(source, made)
        computes &= made is None or follow.method(made) != "get"
        computes &= not _steps_itself(source, made)
        computes &= not tensors.no_grad_around(source, one.statement)  # a number to look at
        reads = [
            use for use in tree.under(source, home, ast.Name) if use.id == name and not isinstance(use.ctx, ast.Store)
        ]
        alone = isinstance(one.statement, ast.Assign) and len(one.statement.targets) == 1
        if (
            computes
            and not reads
            and alone
            and not _went_alone(source, home, made)
            and not re.search(rf"#.*\b{name}\b", source.code(home))
        ):
            yield name, one.statement  # a line that is commented out would read it: the author chose


def _is_start(source: Source, made: ast.expr | None) -> bool:
    """`torch.tensor(0.0)`, `torch.zeros(1)`: where a sum would begin, and no term yet."""
    if not isinstance(made, ast.Call) or source.name(made.func) not in ("torch.tensor", "torch.zeros"):
        return False
    return all(tree.literal(one) is not tree.UNKNOWN for one in made.args)


def _went_alone(source: Source, home: ast.FunctionDef, made: ast.expr | None) -> bool:
    """`both = real_loss + fake_loss`, and each of the two had its own backward pass."""
    parts = tree.under(source, made, ast.Name) if isinstance(made, ast.BinOp) else []
    passes = (tree.receiver(one) for one in source.methods("backward") if tree.inside(source, one, home))
    done = {tree.dotted(one) for one in passes}
    backs = (one.value for one in tree.under(source, home, ast.Return) if one.value is not None)
    done |= {one.id for back in backs for one in tree.under(source, back, ast.Name)}  # or each is given back
    return bool(parts) and all(one.id in done for one in parts)


def _part_of_others(source: Source, cls: Class) -> bool:
    """A class for others to derive from, or one that borrows its methods: what reads the option stands elsewhere."""
    borrows = any(isinstance(one, ast.Assign) and isinstance(one.value, ast.Attribute) for one in cls.node.body)
    methods = (one for one in cls.node.body if isinstance(one, ast.FunctionDef) and one.name in ("forward", "__call__"))
    unwritten = any(isinstance(one.body[-1], ast.Pass) or tree.literal(getattr(one.body[-1], "value", None)) is ... for one in methods)  # fmt: skip
    return borrows or unwritten or re.search(r"abstractmethod|NotImplementedError", source.code(cls.node)) is not None


def _options(source: Source, cls: Class, words: re.Pattern[str]) -> Iterator[Hit]:
    """Options that `__init__` keeps on `self` and that nothing reads."""
    for name, found in classes.own_attributes(cls).items():
        one = found[0]
        if len(found) != 1 or not words.match(name) or one.method != "__init__" or not isinstance(one.value, ast.Name):
            continue
        given = all(binding.how == "parameter" for binding in scopes.reaching(source, one.value))
        reads = any(_reads(source, cls, use) for use in uses.attributes(source, name))
        home = tree.function(source, one.node) or cls.node
        read = any(use.id == one.value.id and use is not one.value for use in tree.under(source, home, ast.Name))
        if given and not reads and not read and not _spelled(source, cls, name):
            place = _summed(source, cls.node, name)
            yield source.hit(place or one.node, f"`self.{name}` is never read: setting it changes nothing")


def _summed(source: Source, home: ast.AST, weight: str) -> ast.AST | None:
    """`reconstruction + kl`, where the weight of the KL term belongs."""
    word = re.sub(r"_?(weight|coeff?|beta|lambda|loss)_?", "", weight) or "kl"
    for one in tree.under(source, home, ast.BinOp):
        if isinstance(one.op, ast.Add) and isinstance(one.right, ast.Name | ast.Attribute):
            last = tree.dotted(one.right).rpartition(".")[2].lower()
            if last.startswith(word) or (word == "kl" and "kl" in last.split("_")):
                return one
    return None


def _reads(source: Source, cls: Class, use: ast.Attribute) -> bool:
    """Whether this may read the attribute of an instance: not another class's `self`, nor the program's settings."""
    owner = tree.class_of(source, use)
    if isinstance(use.ctx, ast.Store) or _SETTINGS.search(tree.dotted(use.value)):
        return False
    heirs = owner is None or owner is cls.node or any(cls.node.name in tree.dotted(base) for base in owner.bases)
    return heirs or tree.dotted(use.value) != "self"


def _spelled(source: Source, cls: Class, name: str) -> bool:
    """Whether the attribute may be read by its name as a text, through `__dict__`, or in another file."""
    text = source.text
    if f'"{name}"' in text or f"'{name}'" in text or "__dict__" in text or "vars(" in text:
        return True
    return any(
        f".{name}" in other.text for other in candidates(source.project, cls, cls.node.name) if other is not source
    )
