"""Embedders: what turns bullets and queries into unit vectors. The contract is in `base`, the names in `catalog`."""
