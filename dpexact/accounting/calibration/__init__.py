"""How the value of one unknown is found: the question, the edges of its domain, the search."""
