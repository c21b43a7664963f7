"""Exact numbers for zeros: rational functions of the other variables, √2, √π and e.

The variables, √π and e are formal symbols: what vanishes formally vanishes for their true values.
A function is evaluated only where its value is such a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import sympy
from sympy import QQ

from proofs_checks.prover.jets import Jet

_VALUES: Final = {
    ("exp", 0): 1,
    ("log", 1): 0,
    ("tanh", 0): 0,
    ("erf", 0): 0,
    ("erfc", 0): 1,
    ("sqrt", 0): 0,
}


class NotExact(ArithmeticError):
    """The value at this point is not known exactly."""


class Formal:
    """The field Q(√2)(√π, e, variables)."""

    def __init__(self, variables: Sequence[str]) -> None:
        self._numbers = QQ.algebraic_field(sympy.sqrt(2))
        names = sympy.symbols([*(f"x_{name}" for name in variables), "root_pi", "e_"])
        self._field = self._numbers.frac_field(*names)
        *gens, self._root_pi, self._e = self._field.gens
        self._variables = dict(zip(variables, gens, strict=True))
        self._root_two = self._field(self._numbers.unit)

    def point(self, variable: str, value: Fraction, length: int) -> dict[str, Jet]:
        """The jets of all variables at ``variable = value``."""
        zero = self.number("0")
        start = [self.number(str(value)), self.number("1"), *[zero] * length][:length]
        return {
            variable: start,
            **{name: [gen] + [zero] * (length - 1) for name, gen in self._variables.items()},
        }

    def number(self, text: str) -> Any:
        if text == "pi":
            return self._root_pi**2
        if text == "e":
            return self._e
        value = Fraction(text)
        return self._field(self._numbers(QQ(value.numerator, value.denominator)))

    def function(self, name: str, value: Any) -> Any:
        for (known, point), result in _VALUES.items():
            if name == known and value == self.number(str(point)):
                return self.number(str(result))
        if name == "gauss" and not value:
            return self.number("2") / self._root_pi
        if name == "exp" and value == self.number("1"):
            return self._e
        if name == "log" and value == self._e:
            return self.number("1")
        if name == "sqrt":
            return self._square_root(value)
        raise NotExact(f"{name}({value})")

    def power(self, value: Any, exponent: int) -> Any:
        return value**exponent

    def _square_root(self, value: Any) -> Any:
        """√ of ``q^2``, ``2 q^2``, and these times π."""
        for factor, root in (
            (self.number("1"), self.number("1")),
            (self.number("2"), self._root_two),
            (self._root_pi**2, self._root_pi),
            (2 * self._root_pi**2, self._root_two * self._root_pi),
        ):
            ratio = (value / factor).as_expr()
            if ratio.is_Rational and ratio > 0:
                size = sympy.sqrt(ratio)
                if size.is_Rational:
                    return root * self.number(f"{size.p}/{size.q}")
        raise NotExact(f"sqrt({value})")
