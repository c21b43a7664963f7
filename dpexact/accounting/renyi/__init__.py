"""Rényi divergences, certified: exact values and the published upper bounds."""

from dpexact.accounting.renyi.query import renyi

__all__ = ["renyi"]
