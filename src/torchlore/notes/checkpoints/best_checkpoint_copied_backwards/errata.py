"""What the documents wrote about keeping the best checkpoint."""

from torchlore.catalogue import Erratum

_IN_A_FOLDER = """
import os, shutil, tempfile
home = os.getcwd()
os.chdir(tempfile.mkdtemp())
model_path = os.path.join('model', 'checkpoint.pth.tar')
"""

ERRATA = (
    Erratum(
        id="E034",
        where="003:563-564",
        written="model_path = os.path.join('model', 'checkpoint.pth.tar'); torch.save(checkpoint, model_path)",
        proof=_IN_A_FOLDER + "torch.save({'epoch': 1}, model_path)",
        happens="RuntimeError: Parent directory model does not exist",
        instead="`os.makedirs('model', exist_ok=True)` first.",
    ),
    Erratum(
        id="E035",
        where="003:566",
        written="shutil.copy('checkpoint.pth.tar', model_path)",
        proof=_IN_A_FOLDER + "os.mkdir('model')\nshutil.copy('checkpoint.pth.tar', model_path)",
        happens="FileNotFoundError",
        instead="`shutil.copy(model_path, os.path.join('model', 'best.pth'))`: the source comes first.",
    ),
    Erratum(
        id="E062",
        where="003:566",
        written="shutil.copy('checkpoint.pth.tar', model_path)",
        proof=_IN_A_FOLDER
        + "os.mkdir('model')\nopen('checkpoint.pth.tar', 'w').write('stale')\n"
        + "torch.save({'epoch': 1}, model_path)\nshutil.copy('checkpoint.pth.tar', model_path)\n"
        + "print(open(model_path).read())",
        happens="stale",
        instead="Copy from the file that was just written.",
    ),
)
