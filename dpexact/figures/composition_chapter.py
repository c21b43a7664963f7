"""The figures of Steinke, Composition of Differential Privacy."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpexact import reals
from dpexact.accounting.classic.composition import basic_composition, pure_composition
from dpexact.accounting.classic.guarantees import Guarantee
from dpexact.accounting.classic.zcdp import zcdp_epsilon
from dpexact.accounting.renyi import poisson_large_order_bound, poisson_small_rate_bound
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Question, Workshop
from dpexact.figures.model import Panel, Point, Series
from dpexact.figures.registry import figure

_SOURCE: Final = "Steinke (2022)"
_DELTA: Final = "1e-6"
#: Numbers of mechanisms that are composed.
_COUNTS: Final = range(1, 101)
#: Rényi orders; the bounds are stated at integers.
_ORDERS: Final = range(2, 51)


def _curve(label: str, counts: range, values: list[Enclosure]) -> Series:
    points = zip(counts, values, strict=True)
    return Series(label, tuple(Point(Enclosure.exact(Fraction(k)), value) for k, value in points))


@figure(
    "steinke-1",
    "Composition of 0.1-differential privacy",
    f"{_SOURCE}, Figure 1",
    "Epsilon of k mechanisms at delta = 1e-6: basic composition, Theorem 18, the optimum for pure "
    "mechanisms, concentrated privacy (rho = k/200) with Proposition 14, and Gaussian noise of the "
    "variance of the Laplace mechanism, 200.",
)
def composition(workshop: Workshop) -> tuple[Panel, ...]:
    """Epsilon over ``k = 1, ..., 100`` by five accounts."""
    digits = workshop.digits
    steps = [[Guarantee(reals.real("1/10"), count=k)] for k in _COUNTS]
    optimal = [Question("epsilon", f"pure_dp(1/10)^{k}", _DELTA) for k in _COUNTS]
    noise = [Question("epsilon", f"gaussian(sqrt(200))^{k}", _DELTA) for k in _COUNTS]
    answers = workshop.answers([*optimal, *noise])
    classic = {
        "basic": [basic_composition(each, _DELTA, digits) for each in steps],
        "Theorem 18": [pure_composition(each, _DELTA, digits) for each in steps],
        "zCDP, Proposition 14": [zcdp_epsilon(Fraction(k, 200), _DELTA, digits) for k in _COUNTS],
        "optimal": answers[: len(_COUNTS)],
        "Gaussian, variance 200": answers[len(_COUNTS) :],
    }
    series = tuple(_curve(label, _COUNTS, values) for label, values in classic.items())
    return (Panel(r"$\delta = 10^{-6}$", "number of mechanisms $k$", r"$\varepsilon$", series),)


@figure(
    "steinke-2",
    "Rényi divergence of a subsampled Gaussian",
    f"{_SOURCE}, Figure 2",
    "Sampling at rate p = 0.05 of a mechanism with divergence rho alpha, rho = 0.5: the exact "
    "divergence (Theorem 34), the bounds of Propositions 41 (with its best omega) and 42, and no "
    "sampling.",
)
def sampled_renyi(workshop: Workshop) -> tuple[Panel, ...]:
    """``D_alpha`` over integer orders ``2, ..., 50``."""
    digits, rate = workshop.digits, "1/20"
    exact = workshop.answers(
        [Question("renyi", "poisson(gaussian(1), 1/20)", str(a), "remove") for a in _ORDERS]
    )
    found = {
        "exact": exact,
        "Proposition 41": [
            poisson_small_rate_bound(lambda k: k / 2, rate, a, digits=digits) for a in _ORDERS
        ],
        "Proposition 42": [
            poisson_large_order_bound(Fraction(a, 2), rate, a, digits) for a in _ORDERS
        ],
        "no sampling": [Enclosure.exact(Fraction(a, 2)) for a in _ORDERS],
    }
    series = tuple(_curve(label, _ORDERS, values) for label, values in found.items())
    title, y_label = r"$p = 0.05$, $\rho = 0.5$", r"Rényi divergence $\varepsilon(\alpha)$"
    return (Panel(title, r"order $\alpha$", y_label, series),)
