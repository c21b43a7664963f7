"""Checks of claims on sampled Gaussians and their Rényi divergences (2019, two papers)."""
