"""Checks of claims on sampled mechanisms under composition (Lebeda et al. 2024)."""
