"""Closed forms of a mechanism, with what their symbols stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dpexact import reals
from dpexact.accounting.composition import Composition, Sample
from dpexact.accounting.standing import sampling_of, standing
from dpexact.arguments import integer_in, word_in
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import FixedSize, Mechanism, Poisson
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import Real

if TYPE_CHECKING:
    import sympy

#: Most repetitions that are written out: the expression has about k^2/4 terms.
MAX_COUNT: Final = 100
#: What can be written out, and of what.
FORMS: Final = {
    "delta": f"write gaussian(sigma)^k, or approx_dp(eps, delta)^k for k <= {MAX_COUNT}",
    "vertices": f"write approx_dp(eps, delta)^k for k <= {MAX_COUNT}",
    "conjugate": "write approx_dp(eps, delta)",
    "tradeoff": "write fixed_size(approx_dp(eps, delta), m, n)",
    "renyi": "write poisson(gaussian(sigma), q)",
}


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
        UnsupportedMechanism: no closed form, more than ``MAX_COUNT`` repetitions, or only a bound.

    >>> form = symbolic("approx_dp(log(3/2), 1/7)")
    >>> form.expression
    Piecewise((-(1 - delta)*(1 - (E - X)/(E + 1)) + 1, E > X), (delta, True))
    >>> form.expression.subs(form.values)
    Piecewise((23/35 - 12*X/35, X < 3/2), (1/7, True))
    """
    m = mechanism_in(mechanism)
    word_in(form, "form", FORMS)
    whole = integer_in(order, "order", 2, MAX_COUNT) if form == "renyi" else 0
    c = Composition.of(m.steps().items(), fixed_size=True)
    if (said := standing(m)).bound != "exact":
        raise UnsupportedMechanism(f"no closed form is written out of a bound: {said.theorem}")
    refusal = UnsupportedMechanism(f"no closed form is written out for {m}: {FORMS[form]}")

    # sympy is slow to load
    from dpexact.formulas import closed_forms
    from dpexact.formulas.closed_forms import DELTA, MU, RATE, E, to_sympy

    if form == "delta" and c.mu is not None and c.is_gaussian:
        return SymbolicForm(m, closed_forms.gaussian_delta(), {MU: to_sympy(c.mu)})
    values: dict[sympy.Symbol, sympy.Expr] = {}
    if form in ("tradeoff", "renyi"):
        sample = _sample(c)
        if sample is None or sampling_of(m) is not (FixedSize if form == "tradeoff" else Poisson):
            raise refusal
        values[RATE], c = to_sympy(sample.q), sample.inner
    if form == "renyi":
        if c.mu is None or not c.is_gaussian:
            raise refusal
        values[MU] = to_sympy(c.mu)
        return SymbolicForm(m, closed_forms.sampled_gaussian_renyi(whole), values)

    eps, delta, count = _responses(c) or (None, None, 0)
    single = form in ("tradeoff", "conjugate")
    if eps is None or delta is None or count > (1 if single else MAX_COUNT):
        raise refusal
    written: dict[str, Callable[[], sympy.Basic]] = {
        "delta": lambda: closed_forms.optimal_composition_delta(count),
        "vertices": lambda: closed_forms.vertices(count),
        "conjugate": closed_forms.conjugate,
        "tradeoff": closed_forms.subsampled,
    }
    expression = written[form]()
    values[E], values[DELTA] = to_sympy(reals.exponential(eps)), to_sympy(delta)
    if delta.fraction == 0 and form != "tradeoff":
        del values[DELTA]
        expression = closed_forms.without_delta(expression)
    return SymbolicForm(m, expression, values)


def _sample(c: Composition) -> Sample | None:
    """What runs once on a sample, perhaps of all records, and nothing else."""
    if not c.samples:
        return Sample(c, reals.rational(1))
    alone = replace(c, samples=[]).is_empty and [count for _, count in c.samples] == [1]
    return c.samples[0][0] if alone else None


def _responses(c: Composition) -> tuple[Real, Real, int] | None:
    """``(eps, delta, count)`` of repetitions of one ``approx_dp``, and of nothing else.

    With delta = 1 any is like one with eps = 0.
    """
    if c.beside.is_certain and not c.samples:
        return reals.rational(0), reals.rational(1), 1
    masses = c.masses or [(reals.rational(0), count) for count in c.responses.values()]
    alone = replace(c, responses={}, masses=[]).is_empty
    if not alone or [count for _, count in masses] != list(c.responses.values()):
        return None
    if len(c.responses) != 1:
        return None
    ((eps, count),) = c.responses.items()
    return eps, masses[0][0], count
