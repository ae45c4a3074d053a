"""What the documents wrote about partial loading."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E100",
        where="003:258",
        written="if ckpt is torch.nn.DataParallel, then current model should also be torch.nn.DataParallel",
        proof="""
from torch import nn
state = nn.DataParallel(nn.Linear(2, 2)).state_dict()
nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
print(nn.Linear(2, 2).load_state_dict(state))
""",
        happens="<All keys matched successfully>",
        instead="Strip the prefix: `consume_prefix_in_state_dict_if_present(state, 'module.')`, or `load_into`.",
    ),
)
