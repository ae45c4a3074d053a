"""`open(path, "w")` for the csv module needs `newline=""`, or every second line is empty on Windows.

`csv.writer` ends its rows with carriage return and line feed by itself. A file opened in text mode without `newline=""`
turns each line feed into the system's line ending, which on Windows gives two carriage returns: an empty row after each
row in a spreadsheet, and in your own reader. Fields that hold a line break come back changed on every system.

```python
with open(path, "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree
from torchlore.check.source import Hit, Source

ROWS = ("metrics-csv",)
SOURCES = ("003:628-650",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"
WORDS = ("csv", "open")


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import csv
    import io

    assert bad["fields"] == ["a\nb"]  # a field that held \r\n came back changed
    assert good["fields"] == ["a\r\nb"]

    raw = io.BytesIO()
    windows = io.TextIOWrapper(raw, newline="\r\n")  # what open(path, "w") gives there
    csv.writer(windows).writerow(["a", "b"])
    windows.flush()
    assert raw.getvalue() == b"a,b\r\r\n"


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("csv.writer", "csv.DictWriter", "csv.reader", "csv.DictReader"):
        file = call.args[0] if call.args else None
        for binding in scopes.reaching(source, file) if isinstance(file, ast.Name) else ():
            opened = binding.value
            if not isinstance(opened, ast.Call) or binding.path:
                continue
            method = (
                isinstance(opened.func, ast.Attribute) and opened.func.attr == "open" and not source.name(opened.func)
            )
            plain = source.name(opened.func) in ("open", "io.open", "codecs.open")
            given = tree.argument(opened, 0 if method else 1, "mode")
            mode = tree.literal(given) if given is not None else "r"
            if (
                (method or plain)
                and tree.lacks(opened, 4 if method else 5, "newline")
                and isinstance(mode, str)
                and "b" not in mode
            ):
                yield source.hit(
                    opened,
                    'the csv module ends lines itself, and this file translates them again: open it with newline=""',
                    edits.add_keyword(source, opened, "newline", '""'),
                )
