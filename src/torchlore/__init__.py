"""The PyTorch notes everyone keeps, as software. Importing this package imports nothing else."""

__version__ = "0.1.0"
