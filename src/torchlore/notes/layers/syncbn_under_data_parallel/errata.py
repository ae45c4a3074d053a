"""What the documents wrote about SyncBatchNorm, and the five faults of their conversion."""

from torchlore.catalogue import Erratum

_CONVERT = """
from torch import nn
def convertBNtoSyncBN(module, process_group=None):
    if isinstance(module, nn.modules.batchnorm._BatchNorm):
        sync_bn = nn.SyncBatchNorm(module.num_features, module.eps, module.momentum,
                                   module.affine, module.track_running_stats, process_group)
        sync_bn.running_mean = module.running_mean
        sync_bn.running_var = module.running_var
        if module.affine:
            sync_bn.weight = WRAP(module.weight.clone().detach())
            sync_bn.bias = WRAP(module.bias.clone().detach())
        return sync_bn
    else:
        for name, child_module in module.named_children():
            setattr(module, name, RECURSE(child_module, process_group=process_group))
        return module
net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
net(torch.randn(4, 3))
net.eval()
net[1].weight.requires_grad_(False)
"""


def _proof(wrap: str, recurse: str, end: str) -> str:
    return _CONVERT.replace("WRAP", wrap).replace("RECURSE", recurse) + end


ERRATA = (
    Erratum(
        id="E017",
        where="003:220",
        written="setattr(module, name) = convert_syncbn_model(child_module, process_group=process_group))",
        proof='compile("setattr(module, name) = convert_syncbn_model(child_module, process_group=g))", "snippet", "exec")',
        happens="SyntaxError: unmatched ')'",
        instead="Use `nn.SyncBatchNorm.convert_sync_batchnorm(model)`.",
    ),
    Erratum(
        id="E018",
        where="003:220",
        written="setattr(module, name) = ...",
        proof='compile("setattr(module, name) = convert_syncbn_model(child_module)", "snippet", "exec")',
        happens="SyntaxError: cannot assign to function call",
        instead="The value is `setattr`'s third argument: `setattr(module, name, value)`.",
    ),
    Erratum(
        id="E019",
        where="003:220",
        written="def convertBNtoSyncBN(...): ... convert_syncbn_model(child_module, ...)",
        proof=_proof("", "convert_syncbn_model", "convertBNtoSyncBN(net)"),
        happens="NameError: name 'convert_syncbn_model' is not defined",
        instead="A recursion calls itself by its own name, `convertBNtoSyncBN`.",
    ),
    Erratum(
        id="E020",
        where="003:215-216",
        written="sync_bn.weight = module.weight.clone().detach()",
        proof=_proof("", "convertBNtoSyncBN", "convertBNtoSyncBN(net)"),
        happens="TypeError: cannot assign 'torch.FloatTensor' as parameter 'weight'",
        instead="Keep the Parameter itself: `sync_bn.weight = module.weight`.",
    ),
    Erratum(
        id="E045",
        where="003:220",
        written="the conversion, after all four repairs",
        proof=_proof(
            "nn.Parameter",
            "convertBNtoSyncBN",
            "b = convertBNtoSyncBN(net)[1]\nprint(int(b.num_batches_tracked), b.training, b.weight.requires_grad)",
        ),
        happens="0 True True",
        instead="`nn.SyncBatchNorm.convert_sync_batchnorm(net)` keeps all three: 1, False, False.",
    ),
    Erratum(
        id="E099",
        where="003:195-199",
        written="the cure for BatchNorm under DataParallel: torch.nn.SyncBatchNorm(...)",
        proof="from torch import nn\nx = torch.randn(8, 3)\nprint(torch.equal(nn.SyncBatchNorm(3)(x), nn.BatchNorm1d(3)(x)))",
        happens="True",
        instead="It synchronises between processes: use DistributedDataParallel.",
    ),
    Erratum(
        id="E110",
        where="003:194 against 003:198",
        written="each card has its own mean under DataParallel; the official cure is SyncBatchNorm",
        proof="from torch import distributed\nprint('process group under DataParallel:', distributed.is_initialized())",
        happens="process group under DataParallel: False",
        instead="The first is right; the cure works under DDP only, never under the DataParallel of the line before.",
    ),
)
