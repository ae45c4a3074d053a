"""What the documents wrote about the best accuracy in a checkpoint."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E063",
        where="003:583 + 003:558",
        written="accuracy = np.mean(...) * 100 ... checkpoint = {'best_acc': best_acc, ...}",
        proof=(
            "import io\nimport numpy as np\nfile = io.BytesIO()\n"
            "torch.save({'best_acc': np.mean(np.array([True, False])) * 100}, file)\nfile.seek(0)\ntorch.load(file)"
        ),
        happens="UnpicklingError: Weights only load failed",
        instead="`'best_acc': float(best_acc)`",
    ),
)
