"""How far one question to `values` has gone: what it is looking at, and what it had to guess where it met itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from torchlore.check.source import Source
    from torchlore.check.values import Values

DEEPEST = 60
NO_CIRCLE = DEEPEST + 2


class Question:
    """The question under way. Expressions feed each other in loops, so an answer may rest on one not yet known."""

    def __init__(self) -> None:
        self.active: dict[ast.AST, int] = {}  # what is being looked at, and how deep in the question
        self.guesses: dict[ast.AST, tuple[Values, int]] = {}  # found inside a circle, and how deep that one began
        self.low = NO_CIRCLE  # how deep the outermost circle began that was met
        self.count = 0

    def settle(self, depth: int) -> None:
        """What began at this depth is known: guesses that rest on it are looked at again when somebody asks."""
        if not depth:
            self.count = 0
            self.guesses.clear()
        elif self.low != NO_CIRCLE:
            self.guesses = {node: guess for node, guess in self.guesses.items() if guess[1] < depth}


def question(source: Source) -> Question:
    """The one question of the file's project."""
    state = source.project.state
    found: Question | None = state.get("question")
    if found is None:
        found = state["question"] = Question()
    return found
