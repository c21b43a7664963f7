"""Checks of claims on privacy loss distributions (Zhu et al. 2022, Gopi et al. 2021)."""
