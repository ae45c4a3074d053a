"""`open(path, "w")` for the csv module needs `newline=""`, or every second line is empty on Windows.

`csv.writer` ends its rows with carriage return and line feed by itself. A file opened in text mode without `newline=""`
turns each line feed into the system's line ending, which on Windows gives two carriage returns: an empty row after each
row in a spreadsheet, and in your own reader. Fields that hold a line break come back changed on every system.

```python
with open(path, "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
```
"""

ROWS = ("metrics-csv",)
SOURCES = ("003:628-650",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


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
