"""What the documents wrote about loading a DataParallel checkpoint."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E100",
        where="003:258",
        written="if ckpt is torch.nn.DataParallel, then current model should also be torch.nn.DataParallel",
        proof=(
            "from torch import nn\nfrom torch.nn.modules.utils import consume_prefix_in_state_dict_if_present\n"
            "state = nn.DataParallel(nn.Linear(2, 2)).state_dict()\n"
            "print(nn.Linear(2, 2).load_state_dict(state, strict=False).missing_keys)\n"
            "consume_prefix_in_state_dict_if_present(state, 'module.')\n"
            "print(nn.Linear(2, 2).load_state_dict(state))"
        ),
        happens="<All keys matched successfully>",
        instead="Strip `module.` from the names and load into the bare model.",
    ),
)
