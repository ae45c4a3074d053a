"""What the documents wrote about the per-class report."""

from torchlore.catalogue import Erratum

_MATRIX = "import numpy as np\nconfusion_mat = np.array([[0, 9, 0], [0, 7, 2], [0, 1, 8]])\n"

ERRATA = (
    Erratum(
        id="E037",
        where="003:639-647",
        written="index = np.argsort(confusion_mat[:, c])[::-1][:5] ... index[4]",
        proof=_MATRIX + "index = np.argsort(confusion_mat[:, 0])[::-1][:5]\nindex[3]",
        happens="IndexError: index 3 is out of bounds",
        instead="Take `min(5, num_classes - 1)` of them.",
    ),
    Erratum(
        id="E066",
        where="003:639",
        written="index = np.argsort(confusion_mat[:, c])[::-1]",
        proof=_MATRIX
        + "def top(c):\n    index = np.argsort(confusion_mat[:, c])[::-1]\n"
        + "    return int(index[0]), int(confusion_mat[index[0], c])\n"
        + "print(top(0)[1], top(2))",
        happens="0 (2, 8)",
        instead="Class 0 is called 1 nine times: read row `c`, with the diagonal set to 0.",
    ),
    Erratum(
        id="E067",
        where="003:648",
        written="f.writerow(['All', ...]) inside `for c in range(num_classes)`",
        proof=(
            "rows = []\nfor c in range(6):\n    rows.append([c])\n    rows.append(['All'])\n"
            "print(sum(row == ['All'] for row in rows))"
        ),
        happens="6",
        instead="Write the total after the loop, once.",
    ),
    Erratum(
        id="E068",
        where="003:633",
        written="open(os.path.join(path, filename), 'wt', encoding='utf-8')",
        proof=(
            "import csv, io\nraw = io.BytesIO()\nfile = io.TextIOWrapper(raw, newline='\\r\\n')  # as on Windows\n"
            "csv.writer(file).writerow(['a', 'b'])\nfile.flush()\nprint(raw.getvalue())"
        ),
        happens=r"b'a,b\r\r\n'",
        instead='`open(path, "w", encoding="utf-8", newline="")`',
    ),
    Erratum(
        id="E119",
        where="003",
        written="accuruacy, accuarcy, recision, occurence, Shulle, convertions, Confused 4",
        proof="",
        happens="Misspelt words, two of them names in code and one a column of the report.",
        instead="accuracy, precision, occurrence, shuffle, conversions, Confused class 4",
    ),
)
