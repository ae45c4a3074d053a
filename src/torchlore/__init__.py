"""The PyTorch notes everyone keeps, as software. Importing this package imports nothing else."""

__version__ = "0.1.0"


def load_ipython_extension(shell: object) -> None:
    """`%load_ext torchlore`: check every cell before it runs, and watch it."""
    from torchlore.watch.notebook import load

    load(shell)


def unload_ipython_extension(shell: object) -> None:
    """`%unload_ext torchlore`."""
    from torchlore.watch.notebook import unload

    unload(shell)
