"""Checks of the claims of the optimal-composition paper (Kairouz, Oh, Viswanath 2015)."""
