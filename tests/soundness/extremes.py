"""Families of parameters as large and as small as they may be."""

from __future__ import annotations

import random

from mpmath import mpf
from soundness import reference as ref
from soundness.asking import (
    ask_delta,
    ask_epsilon,
    digits_of,
    direction_of,
    family,
    guarantee,
    power,
    rate,
    some,
)
from soundness.reference import as_mpf, number, precise
from soundness.trial import Failed, Trial


@family(10)
def extreme(trial: Trial, rng: random.Random) -> None:
    """Every parameter from 1e-300 to 1e9 and beyond."""

    def size(low: int = -300, high: int = 9) -> str:
        k = rng.choice((low, low // 3, -30, -12, -6, -2, 0, 1, 2, 4, high))
        return f"{rng.choice((1, 3, 7))}e{max(low, min(k, high))}"

    q = rng.choice(("1e-300", "1e-30", "1e-9", "1/2", "1-1e-30", "1-1e-9"))
    kind = rng.randrange(7)
    one = [
        lambda: ref.pure_dp(size(high=12)),
        lambda: ref.approx_dp(size(), size(high=-1)),
        lambda: ref.gdp(size(-60, 4)),
        lambda: ref.gaussian(size(-4, 60)),
        lambda: ref.laplace(size(-9, 60)),
        lambda: ref.staircase(size(high=6), rng.choice(("1e-300", "1/3", "1-1e-30"))),
        lambda: ref.discrete_laplace(size(-3, 30), rng.randint(1, 2)),
    ][kind]()
    if rng.random() < 0.5:
        one = ref.poisson(one, q)
    count = power(rng, 3) if kind not in (2, 3, 4) or "poisson" not in str(one) else 1
    m = ref.product((one, count)) if count > 1 and kind != 4 else one
    if rng.random() < 0.5:
        ask_delta(trial, rng, m, rng.choice(("0", size(high=3), some(rng))))
    else:
        ask_epsilon(trial, rng, m, rng.choice((size(high=-1), "1e-300", "1/2", "0")))


@family(0.5)
def hardly_anything(trial: Trial, rng: random.Random) -> None:
    """Steps of a loss that no working precision tells from 0, beside others."""
    small = rng.choice(("1e-1500", "1e-2000", "sqrt(2)*1e-1500", "1e-4000"))
    one = rng.choice(
        (
            lambda: ref.pure_dp(small),
            lambda: ref.staircase(small, rng.choice(("1/3", "0.7", "1"))),
            lambda: ref.approx_dp(small, rng.choice(("1/1000", "1e-40"))),
        )
    )()
    if rng.random() < 0.4:
        one = ref.poisson(one, rate(rng))
    m = ref.product((one, power(rng, 2)), (guarantee(rng), 1))
    if rng.random() < 0.5:
        ask_delta(trial, rng, m, rng.choice(("0", some(rng), "1/9")))
    else:
        ask_epsilon(trial, rng, m)


@family(2)
def extreme_divergences(trial: Trial, rng: random.Random) -> None:
    """Orders from next to 1 up to 10^9, parameters from 10^-100 to 10^6."""
    size = f"{rng.choice((1, 3, 7))}e{rng.choice((-100, -30, -9, -3, -1, 0, 1, 3, 6))}"
    one = rng.choice(
        (
            lambda: ref.pure_dp(size),
            lambda: ref.gdp(size),
            lambda: ref.laplace(size),
            lambda: ref.staircase(size, rng.choice(("1e-30", "1/3", "1-1e-9"))),
            lambda: ref.discrete_laplace(size, rng.randint(1, 3)),
            lambda: ref.poisson(ref.pure_dp(size), rng.choice(("1e-30", "1/3", "1-1e-9"))),
        )
    )()
    m = ref.product((one, power(rng, 3)), (guarantee(rng), 1)) if rng.random() < 0.3 else one
    order = rng.choice(
        ("1+1e-300", "1+1e-30", "1+1e-9", "1", "2", "33", "1e4", "1e9", "sqrt(2)*1e3")
    )
    way = direction_of(rng)
    found = trial.ask("renyi", m, order, digits=digits_of(rng), direction=way)
    trial.contains(found, lambda: ref.renyi(m, order, way), "renyi in ")


@family(0.7)
def huge_counts(trial: Trial, rng: random.Random) -> None:
    """Up to 10^18 steps: no step more is more private, and simple bounds hold."""
    count = rng.choice((10**4, 10**6, 10**9, 10**12, 10**18))
    size = rng.choice(("1e-3", "1e-6", "1e-9", "sqrt(2)*1e-5"))
    step = rng.choice((f"pure_dp({size})", f"approx_dp({size}, 1e-20)", f"gdp({size})"))
    way, n = direction_of(rng), rng.choice((2, 4))
    if rng.random() < 0.5:
        at = some(rng)
        found = trial.ask("delta", f"{step}^{count}", at, digits=n, direction=way)
        more = trial.ask(
            "delta", f"{step}^{count - rng.choice((1, count // 2))}", at, digits=n, direction=way
        )
    else:
        at = f"1e-{rng.randint(2, 9)}"
        found = trial.ask("epsilon", f"{step}^{count}", at, digits=n, direction=way)
        more = trial.ask("epsilon", f"{step}^{count // 2}", at, digits=n, direction=way)
        if step.startswith("pure_dp"):
            with precise(200):
                if as_mpf(found.lower, "f") > count * number(size) * (1 + mpf(10) ** -40):
                    raise Failed("epsilon exceeds basic composition")
    trial.ordered(more, found, "fewer steps are less private")
