"""Checks of the claims of 'The Complexity of Computing the Optimal Composition' (2016)."""
