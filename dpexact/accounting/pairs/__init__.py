"""Dominating pairs, one law a module: read this room first.

A mechanism becomes a product of pairs ``(P, Q)``; engines ask a pair for its moments or its tails
and know no mechanism. ``pair`` is the protocol; what sums moments over many nodes is in ``sums``,
over many different steps in ``clouds``.
"""
