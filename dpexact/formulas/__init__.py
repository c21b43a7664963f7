"""Closed forms as sympy expressions; sympy is imported only when a form is asked for."""

from dpexact.formulas.forms import SymbolicForm, symbolic

__all__ = ["SymbolicForm", "symbolic"]
__dir__ = __all__.copy
