"""Optimal composition of mechanisms of different ``eps_i``: exact if possible, else enclosed."""
