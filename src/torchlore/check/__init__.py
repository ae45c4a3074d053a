"""Reads PyTorch code without running it: names, kinds, flow, and the findings of the rules it is handed."""
