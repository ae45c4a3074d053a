"""What the documents wrote about super()."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E008",
        where="001:37-39",
        written="a class body indented with tabs in one line and with spaces and a tab in the next",
        proof="""
compile("class net:\\n\\tdef __init__(self):\\n     \\tsuper(net, self).__init__()", "snippet", "exec")
""",
        happens="TabError: inconsistent use of tabs and spaces in indentation",
        instead="Indent with spaces only, and write `super().__init__()`.",
    ),
)
