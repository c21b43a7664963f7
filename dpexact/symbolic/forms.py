"""Closed forms of a mechanism, with what their symbols stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dpexact.accounting.closed_form import GaussianMixedWithResponse
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.profile import Profile
from dpexact.accounting.routes import profile
from dpexact.arguments import integer_in
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import ApproxDP, FixedSize, Gaussian, Mechanism, Poisson
from dpexact.mechanisms.grammar import mechanism_in

if TYPE_CHECKING:
    import sympy

#: What can be written out.
FORMS: Final = ("delta", "vertices", "conjugate", "tradeoff", "renyi")
#: Most repetitions that are written out: the expression has about k^2/4 terms.
MAX_COUNT = 100


@dataclass(frozen=True)
class SymbolicForm:
    """An ``expression``; ``values`` says what each parameter symbol is for this mechanism.

    Arguments (``X = e^epsilon``, ``alpha``, ``y``) stay free; the other symbols may be substituted:
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


def symbolic(
    mechanism: Mechanism | str, form: str = "delta", *, order: int | None = None
) -> SymbolicForm:
    """A quantity of ``mechanism`` in closed form.

    Args:
        mechanism: a mechanism or its text.
        form: what to write out:

            ``delta``: the privacy profile. For ``k`` repetitions of ``approx_dp(eps, delta)`` a
            rational function of ``E = e^eps``, ``delta`` and ``X = e^epsilon``, piecewise in ``X``;
            for Gaussians an expression in ``epsilon`` and ``mu``.
            ``vertices``: those of the trade-off function of such repetitions, a tuple of pairs.
            ``conjugate``: the convex conjugate in ``y`` of the trade-off function of one.
            ``tradeoff``: of ``fixed_size(approx_dp(eps, delta), m, n)``, in ``alpha`` and
            ``p = m/n``.
            ``renyi``: of a Poisson-sampled Gaussian, direction remove, at an integer ``order``.
        order: the Rényi order, an integer from 2 to ``MAX_COUNT``.

    Raises:
        InvalidInput: the text is not a mechanism, or an unknown form.
        UnsupportedMechanism: no closed form, or more than ``MAX_COUNT`` repetitions.

    >>> form = symbolic("approx_dp(log(3/2), 1/7)")
    >>> form.expression
    Piecewise((-(1 - delta)*(1 - (E - X)/(E + 1)) + 1, E > X), (delta, True))
    >>> form.expression.subs(form.values)
    Piecewise((23/35 - 12*X/35, X < 3/2), (1/7, True))
    """
    m = mechanism_in(mechanism)
    if form not in FORMS:
        raise InvalidInput(f"form: {form!r} is not accepted; use {', '.join(FORMS)}")
    if form == "renyi":
        return _renyi(m, integer_in(order, "order", 2, MAX_COUNT))
    if form == "tradeoff":
        return _subsampled(m)
    found = profile(m)
    if form != "delta":
        return _tradeoff(m, found, form)
    masses = dict(found.infinite.masses)
    if isinstance(found, OptimalComposition) and set(masses.values()) <= {found.count}:
        return _optimal(m, found)
    if isinstance(found, GaussianMixedWithResponse) and not found.count and not masses:
        from dpexact.symbolic.expressions import MU, to_sympy
        from dpexact.symbolic.gaussian import gaussian_delta

        return SymbolicForm(m, gaussian_delta(), {MU: to_sympy(found.mu)})
    raise UnsupportedMechanism(f"no closed form is written out for {m}")


def _tradeoff(mechanism: Mechanism, found: Profile, form: str) -> SymbolicForm:
    if not isinstance(found, OptimalComposition) or found.count > MAX_COUNT:
        raise UnsupportedMechanism(f"no {form} are written out for {mechanism}")
    if form == "conjugate" and found.count > 1:
        raise UnsupportedMechanism("the conjugate is written out for one mechanism")
    base = _optimal(mechanism, found)
    import sympy

    from dpexact.symbolic.expressions import DELTA
    from dpexact.symbolic.tradeoff import conjugate, tensor_power_vertices

    if form == "conjugate":
        expression = conjugate()
    else:
        vertices = tensor_power_vertices(found.count)
        if DELTA not in base.values:  # then the last two are the same
            vertices = vertices[:-1]
        expression = sympy.Tuple(*(sympy.Tuple(*vertex) for vertex in vertices))
    if DELTA not in base.values:
        expression = expression.subs(DELTA, 0)
    return SymbolicForm(mechanism, expression, base.values)


def _subsampled(mechanism: Mechanism) -> SymbolicForm:
    if not (isinstance(mechanism, FixedSize) and isinstance(mechanism.mechanism, ApproxDP)):
        raise UnsupportedMechanism("tradeoff: write fixed_size(approx_dp(eps, delta), m, n)")
    import sympy

    from dpexact.symbolic.expressions import DELTA, RATE, E, to_sympy
    from dpexact.symbolic.tradeoff import subsampled

    inner = mechanism.mechanism
    values = {
        E: sympy.exp(to_sympy(inner.eps)),
        DELTA: to_sympy(inner.delta),
        RATE: sympy.Rational(mechanism.m, mechanism.n),
    }
    return SymbolicForm(mechanism, subsampled(), values)


def _renyi(mechanism: Mechanism, order: int) -> SymbolicForm:
    if not (isinstance(mechanism, Poisson) and isinstance(mechanism.mechanism, Gaussian)):
        raise UnsupportedMechanism("renyi: write poisson(gaussian(sigma), q)")
    from dpexact.symbolic.expressions import MU, RATE, to_sympy
    from dpexact.symbolic.renyi import sampled_gaussian_renyi

    inner = mechanism.mechanism
    mu = to_sympy(inner.sensitivity) / to_sympy(inner.sigma)
    values = {MU: mu, RATE: to_sympy(mechanism.q)}
    return SymbolicForm(mechanism, sampled_gaussian_renyi(order), values)


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
