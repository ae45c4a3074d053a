"""What the documents wrote about precision and recall."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E036",
        where="003:586",
        written="for c in range(len(num_classes)):",
        proof="num_classes = 10\nfor c in range(len(num_classes)):\n    pass",
        happens="TypeError: object of type 'int' has no len()",
        instead="`for c in range(num_classes):`",
    ),
    Erratum(
        id="E064",
        where="003:591-592",
        written="precision = tp / tp_fp * 100",
        proof=(
            "import warnings\nimport numpy as np\nwarnings.simplefilter('ignore')\n"
            "prediction = np.array([0, 1, 1])\n"
            "tp = np.dot((np.array([0, 1, 2]) == 2).astype(int), (prediction == 2).astype(int))\n"
            "print(tp / np.sum(prediction == 2) * 100)"
        ),
        happens="nan",
        instead="Say what an empty class gives (`zero_division`), and keep one value a class in a list.",
    ),
)
