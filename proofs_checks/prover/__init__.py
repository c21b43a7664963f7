"""Ways to prove: symbolic, intervals, polynomials, enumeration, numbers; and the checker.

The checker is what is trusted, with ``jets``, ``ranges`` and ``formal``, all that it imports from
here. The rest may search as cleverly as it likes.
"""
