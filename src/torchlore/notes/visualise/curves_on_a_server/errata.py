"""What the documents wrote about curves in Visdom."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E031",
        where="003:498-499",
        written="vis = visdom.Visdom(...)\nassert self._visdom.check_connection()",
        proof="vis = object()\nassert self._visdom.check_connection()",
        happens="NameError: name 'self' is not defined",
        instead="`vis.check_connection()` and `vis.close()`: the object is called `vis`.",
    ),
    Erratum(
        id="E032",
        where="003:506",
        written="tran(...)",
        proof="def train(*args): pass\ntran(...)",
        happens="NameError: name 'tran' is not defined",
        instead="`train(...)`",
    ),
)
