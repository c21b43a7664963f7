"""Classic published bounds, each a named function that checks its hypotheses."""
