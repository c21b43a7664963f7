"""How moments of a law are summed: where floats put the nodes, and what is proved of the sums."""
