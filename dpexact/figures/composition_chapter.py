"""The figures of Steinke, Composition of Differential Privacy."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpexact import reals
from dpexact.accounting.classic.composition import Guarantee, basic_composition, pure_composition
from dpexact.accounting.classic.zcdp import zcdp_epsilon
from dpexact.accounting.renyi import poisson_large_order_bound, poisson_small_rate_bound
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Question, Workshop
from dpexact.figures.model import Panel, curve
from dpexact.figures.parameters import count, number, share, shown
from dpexact.figures.registry import figure
from dpexact.reals import Real

_SOURCE: Final = "Steinke (2022)"


@figure(
    "steinke-1",
    "Composition of {eps}-differential privacy",
    f"{_SOURCE}, Figure 1",
    "Epsilon of k mechanisms at delta = {delta}: basic composition, Theorem 18, the optimum for "
    "pure mechanisms, concentrated privacy (rho = k eps^2/2) with Proposition 14, and Gaussian "
    "noise of the variance of the Laplace mechanism, 2/eps^2.",
    eps=number("epsilon of one mechanism", "0.1", "> 0", "<= 5"),
    delta=number("delta of all together", "1e-6", "> 0", "< 1"),
    k=count("most mechanisms that are composed", "100", 2, 300),
)
def composition(workshop: Workshop, eps: Real, delta: Real, k: int) -> tuple[Panel, ...]:
    """Epsilon over ``1, ..., k`` mechanisms by five accounts."""
    digits, counts = workshop.digits, range(1, k + 1)
    steps = [[Guarantee(eps, count=times)] for times in counts]
    optimal = [Question("epsilon", f"pure_dp({eps})^{times}", str(delta)) for times in counts]
    noisy = f"gaussian({reals.square_root(reals.rational(2)) / eps})"
    noise = [Question("epsilon", f"{noisy}^{times}", str(delta)) for times in counts]
    answers = workshop.answers([*optimal, *noise])
    rho = eps * eps / 2
    classic = {
        "basic": [basic_composition(each, delta, digits) for each in steps],
        "Theorem 18": [pure_composition(each, delta, digits) for each in steps],
        "zCDP, Proposition 14": [zcdp_epsilon(times * rho, delta, digits) for times in counts],
        "optimal": answers[:k],
        f"Gaussian, variance {shown(2 / (eps * eps))}": answers[k:],
    }
    series = tuple(curve(label, counts, values) for label, values in classic.items())
    title = rf"$\delta$ = {shown(delta)}"
    return (Panel(title, "number of mechanisms $k$", r"$\varepsilon$", series),)


@figure(
    "steinke-2",
    "Rényi divergence of a subsampled Gaussian",
    f"{_SOURCE}, Figure 2",
    "Sampling at rate p = {p} of a mechanism with divergence rho alpha, rho = {rho}: the exact "
    "divergence (Theorem 34), the bounds of Propositions 41 (with its best omega) and 42, and no "
    "sampling.",
    p=share("sampling rate", "0.05", "> 0", "<= 1/2"),
    rho=share("divergence of order alpha, over alpha", "0.5", "> 0", "<= 10"),
    order=count("largest order, after 2, 3, ...", "50", 3, 200),
)
def sampled_renyi(workshop: Workshop, p: Fraction, rho: Fraction, order: int) -> tuple[Panel, ...]:
    """``D_alpha`` over integer orders from 2."""
    digits, orders = workshop.digits, range(2, order + 1)
    sigma = reals.square_root(reals.rational(1 / (2 * rho)))
    sampled = f"poisson(gaussian({sigma}), {p})"
    exact = workshop.answers([Question("renyi", sampled, str(a), "remove") for a in orders])
    found = {
        "exact": exact,
        "Proposition 41": [
            poisson_small_rate_bound(lambda at: at * rho, p, a, digits=digits) for a in orders
        ],
        "Proposition 42": [poisson_large_order_bound(a * rho, p, a, digits) for a in orders],
        "no sampling": [Enclosure.exact(a * rho) for a in orders],
    }
    series = tuple(curve(label, orders, values) for label, values in found.items())
    title, y_label = (
        rf"$p$ = {shown(p)}, $\rho$ = {shown(rho)}",
        r"Rényi divergence $\varepsilon(\alpha)$",
    )
    return (Panel(title, r"order $\alpha$", y_label, series),)
