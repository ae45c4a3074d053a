"""What the documents wrote about HDF5 and Torch's own files."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E011",
        where="002:146",
        written="f = h5py.File('test.h5')",
        proof=(
            "import h5py, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
            "    f = h5py.File(f'{folder}/test.h5')"
        ),
        happens="FileNotFoundError",
        instead='`h5py.File("test.h5", "w")`: the mode is "r" unless you say otherwise.',
    ),
    Erratum(
        id="E012",
        where="002:157,164",
        written="H5Dataset('test.h5')",
        proof="H5Dataset('test.h5')",
        happens="NameError: name 'H5Dataset' is not defined",
        instead="Write the class: a Dataset that opens the file in `__getitem__`, once per worker.",
    ),
    Erratum(
        id="E096",
        where="002:140-141",
        written="t7 and h5 can both be used by torch ... an official bug",
        proof=(
            "try:\n    from torch.utils.serialization import load_lua\n"
            "except ImportError as error:\n    print('no load_lua:', error)"
        ),
        happens="no load_lua",
        instead="Lua Torch's files are not read any more, and h5 never was: h5py reads it, safely in every worker.",
    ),
    Erratum(
        id="E118",
        where="002",
        written="### 1, ### 2, ### 4 ... ```numpy ... ![](https://pic4.zhimg.com/...)",
        proof="",
        happens="Note 3 is missing, code stands under the labels `numpy` and `text`, and a formula is a picture elsewhere.",
        instead="Number the notes through, label code `python`, and write formulas out.",
    ),
)
