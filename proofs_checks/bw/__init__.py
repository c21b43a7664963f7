"""Checks of the claims of 'Improving the Gaussian Mechanism' (Balle and Wang 2018)."""
