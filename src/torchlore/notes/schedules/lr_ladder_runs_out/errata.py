"""What the documents wrote about the stepped warm-up."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E001",
        where="000:34-39 and 002:101-106",
        written="if ep < 50:\\n   lr = ...\\n elif ep < 200:",
        proof='compile("if ep < 50:\\n   lr = 1e-4\\n elif ep < 200:\\n   lr = 1e-3\\n", "000", "exec")',
        happens="IndentationError: unindent does not match any outer indentation level",
        instead="`elif` stands under its `if`.",
    ),
    Erratum(
        id="E002",
        where="000:34-39 and 002:101-106",
        written="elif ep < 300: lr = 1e-4",
        proof=(
            "def rate(ep):\n    if ep < 50:\n        lr = 1e-4 * (ep // 5 + 1)\n    elif ep < 200:\n        lr = 1e-3\n"
            "    elif ep < 300:\n        lr = 1e-4\n    return lr\nrate(300)"
        ),
        happens="UnboundLocalError",
        instead="`else: lr = 1e-4`, so that every epoch has a rate.",
    ),
    Erratum(
        id="E115",
        where="002:106 / 000:39 vs 003:546",
        written="1e-4 * (ep // 5 + 1) ... against lambda t: t / 10",
        proof="print([1e-4 * (ep // 5 + 1) / 1e-3 for ep in (0, 45)], [t / 10 for t in (0, 10)])",
        happens="[0.1, 1.0] [0.0, 1.0]",
        instead="The ladder starts at a tenth, the ramp at nothing: its first epoch is wasted. Start above 0.",
    ),
)
