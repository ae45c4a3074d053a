import torch.utils.checkpoint as cp
from torch.utils import checkpoint
from torch.utils.checkpoint import checkpoint_sequential


def forward(block, blocks, x, y, options):
    x = cp.checkpoint(block, x, y)  # trap: reentrant-checkpoint
    x = checkpoint.checkpoint(block, x, preserve_rng_state=False)  # trap: reentrant-checkpoint
    x = checkpoint_sequential(blocks, 4, x)  # trap: reentrant-checkpoint
    x = cp.checkpoint(block, x, use_reentrant=False)
    x = cp.checkpoint(block, x, use_reentrant=True)
    x = cp.checkpoint(block, x, **options)
    return block.checkpoint(x)
