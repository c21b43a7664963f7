"""Ways to prove: symbolic, intervals, polynomials, enumeration, numbers; and the checker.

The checker is what is trusted: it imports nothing of this package but ``jets``. The rest may search
as cleverly as it likes.
"""
