"""Checks of the claims of the chapter on composition and subsampling (Steinke)."""
