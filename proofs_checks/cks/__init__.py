"""Checks of the claims of 'The Discrete Gaussian for Differential Privacy' (Canonne et al.)."""
