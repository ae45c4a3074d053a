"""Recipes: small functions that need torch alone. Import the module you want: `from torchlore.recipes import losses`."""
