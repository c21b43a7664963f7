"""Checks of the claims of the talk 'A Statistical Viewpoint on Privacy' (Su)."""
