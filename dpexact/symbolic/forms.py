"""The closed form of a mechanism's privacy profile, with what its symbols stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpexact.accounting.choose import profile
from dpexact.accounting.closed_form import GaussianMixedWithResponse
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.queries import mechanism_in
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism

if TYPE_CHECKING:
    import sympy

#: Most repetitions that are written out: the expression has about k^2/4 terms.
MAX_COUNT = 100


@dataclass(frozen=True)
class SymbolicForm:
    """``expression`` for ``delta(epsilon)``; ``values`` says what each parameter symbol is here.

    ``X`` stands for ``e^epsilon`` and stays free; the other symbols may be substituted:
    ``form.expression.subs(form.values)``.
    """

    mechanism: Mechanism
    expression: sympy.Expr
    values: dict[sympy.Symbol, sympy.Expr]

    def latex(self) -> str:
        """The expression as LaTeX."""
        import sympy

        return str(sympy.latex(self.expression))

    def __str__(self) -> str:
        return str(self.expression)


def symbolic(mechanism: Mechanism | str) -> SymbolicForm:
    """The privacy profile ``delta(epsilon)`` of ``mechanism`` in closed form.

    For ``k`` repetitions of ``approx_dp(eps, delta)`` a rational function of ``E = e^eps``,
    ``delta`` and ``X = e^epsilon``, piecewise in ``X``; for Gaussians an expression in ``epsilon``
    and ``mu``.

    Raises:
        InvalidInput: the text is not a mechanism.
        UnsupportedMechanism: no closed form, or more than ``MAX_COUNT`` repetitions.

    >>> form = symbolic("approx_dp(log(3/2), 1/7)")
    >>> form.expression
    Piecewise((-(1 - delta)*(1 - (E - X)/(E + 1)) + 1, E > X), (delta, True))
    >>> form.expression.subs(form.values)
    Piecewise((23/35 - 12*X/35, X < 3/2), (1/7, True))
    """
    m = mechanism_in(mechanism)
    found = profile(m)
    masses = dict(found.infinite.masses)
    if isinstance(found, OptimalComposition) and set(masses.values()) <= {found.count}:
        return _optimal(m, found)
    if isinstance(found, GaussianMixedWithResponse) and not found.count and not masses:
        from dpexact.symbolic.expressions import MU, to_sympy
        from dpexact.symbolic.gaussian import gaussian_delta

        return SymbolicForm(m, gaussian_delta(), {MU: to_sympy(found.mu)})
    raise UnsupportedMechanism(f"no closed form is written out for {m}")


def _optimal(mechanism: Mechanism, found: OptimalComposition) -> SymbolicForm:
    if found.count > MAX_COUNT:
        raise UnsupportedMechanism(
            f"closed forms are written out for at most {MAX_COUNT} repetitions, not {found.count}"
        )
    import sympy

    from dpexact.symbolic.expressions import DELTA, E, to_sympy
    from dpexact.symbolic.optimal import optimal_composition_delta

    values = {E: sympy.exp(to_sympy(found.eps))}
    expression = optimal_composition_delta(found.count)
    if found.infinite.masses:
        values[DELTA] = to_sympy(found.infinite.masses[0][0])
    else:
        expression = expression.subs(DELTA, 0)
    return SymbolicForm(mechanism, expression, values)
