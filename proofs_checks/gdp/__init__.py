"""Checks of the claims of 'Gaussian Differential Privacy' (Dong, Roth, Su)."""
