"""Families of laws with densities, and of guarantees that are no pair, against quadrature."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf
from soundness import reference as ref
from soundness.asking import (
    ask_anything,
    ask_curve_at,
    ask_delta,
    ask_epsilon,
    ask_floats,
    ask_renyi,
    composed,
    dense,
    digits_of,
    direction_of,
    family,
    fraction_text,
    guarantee,
    power,
    rate,
    some,
    tiny,
)
from soundness.reference import Mechanism, as_mpf, number
from soundness.trial import Trial

import dpexact
from dpexact import Enclosure


@family(3)
def bounded_support(trial: Trial, rng: random.Random) -> None:
    """Noise within bounds and the selection of partitions, alone, repeated, sampled, beside."""
    one = rng.choice(
        (
            lambda: ref.truncated_laplace(some(rng), some(rng, 0.2, 9), some(rng, 0.1, 2)),
            lambda: ref.truncated_discrete_gaussian(
                some(rng, 0.4, 4), rng.randint(1, 9), rng.randint(1, 4)
            ),
            lambda: ref.partition_selection(some(rng), rng.choice(("1e-5", "1/9", "sqrt(2)/5"))),
            lambda: ref.partition_selection(rng.choice(("0", tiny(rng), "9")), "1/20"),
        )
    )()
    if rng.random() < 0.3:
        one = ref.poisson(one, rate(rng))
    m = ref.product((one, power(rng, 2)), (guarantee(rng), 1)) if rng.random() < 0.4 else one
    ask_anything(trial, rng, m)


@family(1)
def selections(trial: Trial, rng: random.Random) -> None:
    """The best of a random number of runs of a finite law reveals no more than the bound."""
    laws = [[Fraction(rng.randint(1, 9)) for _ in range(3)] for _ in range(2)]
    p, q = ([mass / sum(law) for mass in law] for law in laws)
    mean, shape = rng.choice((Fraction(5, 4), Fraction(3), Fraction(40))), rng.choice((None, 1))
    outcomes = ", ".join(f"({a}, {b})" for a, b in zip(p, q, strict=True))
    form = "" if shape is None else f", {shape}"
    text = f"repeat_and_select(pair({outcomes}), {mean}{form})"

    def selected(law: list[Fraction]) -> list[Any]:
        """That of the best, the last outcome the best; first that of no run."""
        gamma, places = 1 / as_mpf(mean, "n"), [sum(law[:k], Fraction(0)) for k in range(4)]
        values = [
            mp.exp((as_mpf(x, "n") - 1) / gamma)
            if shape is None
            else gamma * as_mpf(x, "n") / (1 - (1 - gamma) * as_mpf(x, "n"))
            for x in places
        ]
        return [values[0], *(b - a for a, b in pairwise(values))]

    growth = rng.choice((1, 2, 5))
    digits = digits_of(rng) % 6 + 1
    found = trial.ask("delta", text, f"log({growth})", digits=digits, direction="remove")

    def truth() -> Any:
        gains = zip(selected(p), selected(q), strict=True)
        return mp.fsum(max(a - growth * b, mpf(0)) for a, b in gains), ref.unit()

    trial.holds(truth, lambda: (as_mpf(found.upper, "c"), mpf(0)), f"{text}: above the bound")


@family(6)
def densities(trial: Trial, rng: random.Random) -> None:
    """One step with a density, sampled or not, beside finite steps."""
    one = dense(rng)
    if rng.random() < 0.4:
        one = ref.poisson(one, rate(rng))
    m = one
    if rng.random() < 0.5:
        other = guarantee(rng)
        if rng.random() < 0.3:
            other = ref.poisson(other, rate(rng))
        m = ref.product((one, 1), (other, rng.randint(1, 2)))
    if rng.random() < 0.2:
        m = ref.poisson(m, rate(rng))
    kinds = (ask_delta, ask_epsilon, ask_floats, ask_renyi, ask_delta)
    rng.choice(kinds)(trial, rng, m)


@family(0.7)
def two_densities(trial: Trial, rng: random.Random) -> None:
    """Two steps with densities, by quadrature."""
    one, two = dense(rng), dense(rng)
    one = ref.poisson(one, rate(rng)) if rng.random() < 0.6 else one
    two = ref.poisson(two, rate(rng)) if rng.random() < 0.3 else two
    if rng.random() < 0.2:
        ask_curve_at(trial, rng, one, rng.choice(("1e-3", "1e-6", "0.1")))
        return
    m = ref.product((one, 2)) if rng.random() < 0.4 else ref.product((one, 1), (two, 1))
    rng.choice((ask_delta, ask_delta, ask_epsilon))(trial, rng, m)


@family(0.7)
def few_rare_steps(trial: Trial, rng: random.Random) -> None:
    """Two rare samples of noise, of which a line sees little, alone or beside few outcomes."""

    def rare() -> Mechanism:
        return ref.poisson(dense(rng), f"{rng.randint(1, 99)}e-{rng.randint(3, 7)}")

    other = rare() if rng.random() < 0.6 else dense(rng)
    beside = [(guarantee(rng), 1)] if rng.random() < 0.5 else []
    m = ref.product((rare(), 1), (other, 1), *beside)
    rng.choice((ask_delta, ask_delta, ask_epsilon))(trial, rng, m)


@family(0.7)
def little_noise(trial: Trial, rng: random.Random) -> None:
    """One or two samples of so little noise that their losses are far above 1."""
    one, two = (
        ref.poisson(ref.gaussian(f"{rng.uniform(0.02, 0.3):.3g}"), rate(rng)) for _ in range(2)
    )
    m = rng.choice((one, ref.product((one, 2)), ref.product((one, 1), (two, 1))))
    if rng.random() < 0.5:
        ask_delta(trial, rng, m, rng.choice((some(rng), f"{10 ** rng.uniform(0, 3):.3g}")))
    else:
        ask_epsilon(trial, rng, m)


@family(2)
def divergences(trial: Trial, rng: random.Random) -> None:
    """Renyi divergences of all that has a reference."""
    draw = rng.choice(
        (lambda: dense(rng), lambda: ref.poisson(dense(rng), rate(rng)), lambda: composed(rng))
    )
    ask_renyi(trial, rng, draw())


@family(1)
def fixed_sizes(trial: Trial, rng: random.Random) -> None:
    """Between a pair of datasets that is known and the proved upper bound."""
    n = rng.randint(2, 9)
    m = rng.randint(1, n)
    way = direction_of(rng)
    at = rng.choice(("0", some(rng), some(rng)))
    if rng.random() < 0.3:  # the bound for samples of finite laws
        inner, count, target = ref.pure_dp(some(rng)), power(rng, 4), f"1e-{rng.randint(1, 6)}"
        text = f"fixed_size({inner}, {m}, {n})^{count}"
        bound = trial.ask("bounds", text, target, digits=4)["C_p"]
        if bound.value is not None:
            whole = ref.product((ref.symmetric_sample(inner, m, n), count))
            trial.contains(bound.value, lambda: ref.epsilon(whole, target), "C_p in ")
        return
    inner = ref.gaussian(some(rng, 0.5, 3))
    text = f"fixed_size({inner}, {m}, {n})"
    if rng.random() < 0.3:  # of two steps, all that is known for certain lies above this pair
        found = trial.ask("delta", f"{text}^2", at, digits=3, direction=way)
        pair = ref.product((ref.poisson(inner, f"{m}/{n}"), 2))
        trial.contains(Enclosure(Fraction(0), found.upper), lambda: ref.delta(pair, at), "at most ")
        alpha = Fraction(rng.randint(1, 99), 100)
        call = f"dpexact.tradeoff({f'{text}^2'!r}, {way!r})({str(alpha)!r}, 4)"
        f = trial.attempt(call, lambda: dpexact.tradeoff(f"{text}^2", way)(alpha, 4))

        def line() -> ref.Estimate:  # under the trade-off function of that pair
            value, error = ref.delta(pair, at)
            slope = ref.mp.exp(ref.number(at))
            return 1 - value - slope * alpha.numerator / alpha.denominator, error

        trial.contains(Enclosure(Fraction(-(10**9)), f.upper), line, "a line under ")
        return
    found = trial.ask("delta", text, at, digits=digits_of(rng), direction=way)
    trial.contains(
        found, lambda: ref.delta(ref.poisson(inner, f"{m}/{n}"), at, "both"), "delta in "
    )


@family(1.5)
def concentrated(trial: Trial, rng: random.Random) -> None:
    """zCDP: the conversion at its best order, which is what is enclosed."""
    rho = rng.choice((some(rng, 0.01, 2), tiny(rng, 40), "10"))
    count = rng.randint(1, 3)
    xi = rng.choice(("0", some(rng, 0.01, 6), tiny(rng, 40)))
    size = rng.choice((1, 1, 2, 3))
    harmonic = fraction_text(sum((Fraction(size, i + 1) for i in range(size)), Fraction(0)))
    whole, shift = f"({rho})*{count * size**2}", f"({xi})*{count}*({harmonic})"
    text = f"zcdp({rho})" if xi == "0" else f"zcdp({xi}, {rho})"
    text = f"group({text}, {size})" if size > 1 else text
    text = f"{text}^{count}" if count > 1 else text

    def bound(at: str) -> ref.Estimate:
        return ref.zcdp_delta(whole, f"({at})-({shift})")

    if rng.random() < 0.5:
        at = some(rng, 0.5, 9)
        found = trial.ask("delta", text, at, digits=digits_of(rng))
        trial.contains(found, lambda: _at_most_one(bound(at)), "delta in ")
        return
    target = f"1e-{rng.randint(1, 12)}"
    found = trial.ask("epsilon", text, target, digits=digits_of(rng))
    goal = lambda: (number(target), number(target) * mpf(10) ** -25)  # noqa: E731
    if found.lower > 0:
        trial.holds(goal, lambda: bound(fraction_text(found.lower)), "zCDP below")
        trial.holds(lambda: bound(fraction_text(found.upper)), goal, "zCDP above")


@family(0.8)
def given_orders(trial: Trial, rng: random.Random) -> None:
    """A curve of a Gaussian at some orders bounds it: by the best row, or by order 2 itself."""
    orders = rng.sample(("5/4", "3/2", "2", "3", "5", "9", "20", "64"), rng.randint(1, 5))
    mu, count = Fraction(rng.randint(1, 20), 10), rng.randint(1, 4)
    rows = [(order, Fraction(order) * mu * mu / 2) for order in orders]
    curve = ", ".join(f"({order}, {fraction_text(level)})" for order, level in rows)
    at = some(rng, 0.1, 6)
    found = trial.ask("delta", f"renyi_dp({curve})^{count}", at, digits=digits_of(rng))

    def best() -> ref.Estimate:
        least = mpf(1)
        for order, level in rows:
            t = number(order) - 1
            power = t * (count * number(fraction_text(level)) - number(at))
            least = min(least, mp.exp(power + t * mp.log(t) - (t + 1) * mp.log(t + 1)))
            if order == "2":
                away, excess = mp.expm1(number(at)), mp.expm1(count * number(fraction_text(level)))
                least = min(least, excess / (mp.sqrt(away**2 + excess) + away) / 2)
        return least, least * mpf(10) ** -20

    trial.contains(found, best, "delta in ")
    truth = ref.gdp(f"sqrt({count})*{fraction_text(mu)}")
    trial.holds(lambda: ref.delta(truth, at), lambda: (as_mpf(found.upper, "c"), mpf(0)), "below")


def _at_most_one(x: ref.Estimate) -> ref.Estimate:
    return min(x[0], mpf(1)), x[1]
