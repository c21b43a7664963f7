"""Families of relations between answers, which need no reference."""

from __future__ import annotations

import math
import random
import threading
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf
from soundness import reference as ref
from soundness.asking import (
    composed,
    dense,
    direction_of,
    family,
    guarantee,
    rate,
    some,
    target_point,
    tiny,
)
from soundness.reference import as_mpf, precise
from soundness.trial import Failed, Refused, Trial

import dpexact
from dpexact import Enclosure, InvalidInput, PrecisionNotReached, UnsupportedMechanism, tradeoffs


def anything(rng: random.Random) -> str:
    """The text of any mechanism, with or without a reference."""
    kind = rng.randrange(8)
    if kind < 3:
        return str(composed(rng))
    if kind == 3:
        return f"poisson({dense(rng)}, {rate(rng)})^{rng.choice((2, 10, 100, 10**4))}"
    if kind == 4:
        return f"{dense(rng)}^{rng.choice((2, 5, 20))}"
    if kind == 5:
        return f"{dense(rng)} * {guarantee(rng)}^{rng.randint(1, 3)}"
    if kind == 6:
        return f"discrete_gaussian({some(rng, 0.5, 4)}, {rng.randint(1, 2)})^{rng.randint(2, 30)}"
    return f"{guarantee(rng)}^{rng.choice((2, 20, 500, 10**6))}"


@family(2)
def monotone_in_epsilon(trial: Trial, rng: random.Random) -> None:
    m, way, digits = anything(rng), direction_of(rng), rng.choice((2, 4, 6))
    low = some(rng, 0.01, 2)
    high = f"{low}+{rng.choice((some(rng), tiny(rng, 80)))}"
    first = trial.ask("delta", m, low, digits=digits, direction=way)
    second = trial.ask("delta", m, high, digits=digits, direction=way)
    trial.ordered(second, first, "delta rises with epsilon")


#: Functionals of trade-off functions, and what they are of the mechanism.
FUNCTIONALS = (
    ("total_variation", "delta", "0", tradeoffs.total_variation),
    ("kl", "renyi", "1", tradeoffs.kl),
    ("renyi", "renyi", "3/2", lambda f, digits: tradeoffs.renyi(f, "3/2", digits)),
)


@family(0.7)
def functionals_of_trade_off_functions(trial: Trial, rng: random.Random) -> None:
    """Those of one law, which is symmetric here, or they are refused."""
    m = str(rng.choice((dense, guarantee))(rng)) + rng.choice(("", "", "^2", " * pure_dp(1/9)"))
    name, verb, at, functional = rng.choice(FUNCTIONALS)
    f = trial.attempt(f"dpexact.tradeoff({m!r})", lambda: dpexact.tradeoff(m))

    def found() -> Enclosure | None:
        try:
            return functional(f, 4)
        except InvalidInput:
            return None

    if (one := trial.attempt(f"tradeoffs.{name}(f, digits=4)", found)) is not None:
        trial.overlap(one, trial.ask(verb, m, at, digits=4), f"{name} of the trade-off function")


@family(1.5)
def convex(trial: Trial, rng: random.Random) -> None:
    """delta is convex in ``e^eps``."""
    m, way, digits = anything(rng), direction_of(rng), rng.choice((3, 6))
    a, b = sorted((rng.randint(1, 20), rng.randint(1, 20)))
    ends = [trial.ask("delta", m, f"log({x})", digits=digits, direction=way) for x in (a, b)]
    middle = trial.ask("delta", m, f"log({a + b}/2)", digits=digits, direction=way)
    if middle.lower > (ends[0].upper + ends[1].upper) / 2:
        raise Failed("delta is not convex in e^eps")


@family(2)
def monotone_in_parameters(trial: Trial, rng: random.Random) -> None:
    """More steps, a larger rate and less noise are less private; so are both directions."""
    way = direction_of(rng)
    kind = rng.randrange(4)
    digits = rng.choice((2, 3, 5))
    count = rng.choice((1, 2, 5, 30, 1000))
    if kind == 0:
        one, more = (
            f"poisson(gaussian(1.1), 1/50)^{n}" for n in (count, count + rng.choice((1, 7)))
        )
    elif kind == 1:
        step = rng.choice((str(dense(rng)), str(guarantee(rng)), str(composed(rng, 1))))
        one, more = (
            f"poisson({step}, {q})^{min(count, 2)}"
            for q in ("0.2", rng.choice(("0.2+1e-30", "0.3")))
        )
    elif kind == 2:
        x = rng.uniform(0.5, 3)
        noise = rng.choice(("gaussian", "laplace", "discrete_laplace"))
        one, more = (f"{noise}({y:.6f})^{min(count, 5)}" for y in (x + rng.choice((1e-5, 0.3)), x))
    else:
        step = anything(rng)
        one, more, way = step, step, "both"
        at = some(rng)
        first = trial.ask("delta", one, at, digits=digits, direction=rng.choice(("remove", "add")))
        second = trial.ask("delta", more, at, digits=digits, direction="both")
        trial.ordered(first, second, "one direction is worse than both")
        return
    if rng.random() < 0.5:
        at = some(rng)
        first, second = (
            trial.ask("delta", m, at, digits=digits, direction=way) for m in (one, more)
        )
    else:
        at = f"1e-{rng.randint(2, 8)}"
        first, second = (
            trial.ask("epsilon", m, at, digits=digits, direction=way) for m in (one, more)
        )
    trial.ordered(first, second, "less privacy is more private")


@family(1.5)
def composition(trial: Trial, rng: random.Random) -> None:
    """``delta_{MN}(a + b) <= delta_M(a) + delta_N(b)``, and each part is no less private."""
    one, two = (
        str(composed(rng, 1)),
        rng.choice((str(dense(rng)), str(guarantee(rng)), str(composed(rng, 1)))),
    )
    way, digits = direction_of(rng), rng.choice((3, 6))
    a, b = some(rng, 0.01, 2), some(rng, 0.01, 2)
    both = trial.ask("delta", f"{one} * {two}", f"({a})+({b})", digits=digits, direction=way)
    first = trial.ask("delta", one, a, digits=digits, direction=way)
    second = trial.ask("delta", two, b, digits=digits, direction=way)
    if both.lower > first.upper + second.upper:
        raise Failed("a composition is worse than basic composition")
    part = trial.ask("delta", one, f"({a})+({b})", digits=digits, direction=way)
    trial.ordered(part, both, "a part is less private than the whole")


@family(2)
def permutation(trial: Trial, rng: random.Random) -> None:
    parts = [
        str(composed(rng, 1)),
        str(guarantee(rng)),
        rng.choice((str(dense(rng)), str(guarantee(rng)))),
    ]
    way, digits, at = direction_of(rng), rng.choice((3, 6)), some(rng)
    first = trial.ask("delta", " * ".join(parts), at, digits=digits, direction=way)
    rng.shuffle(parts)
    second = trial.ask("delta", " * ".join(parts), at, digits=digits, direction=way)
    trial.overlap(first, second, "the order of factors matters")


@family(1.5)
def renamed(trial: Trial, rng: random.Random) -> None:
    """Groups of one, samples of everybody, one bin, and coins between the same change nothing."""
    m, way, digits = anything(rng), direction_of(rng), rng.choice((2, 4, 6))
    q = rng.choice(("1/3", "1e-9"))
    coin = f"mix({q}: {m}, 1-{q}: {m})"
    alone = (f"group({m}, 1)", f"poisson({m}, 1)", f"allocation({m}, 1)", f"adaptive({m})")
    other = rng.choice((*alone, coin))
    name, at = rng.choice((("delta", some(rng)), ("epsilon", f"1e-{rng.randint(1, 9)}")))
    first, second = (trial.ask(name, x, at, digits=digits, direction=way) for x in (m, other))
    trial.overlap(first, second, "the same by another name")


@family(3)
def nested_rates(trial: Trial, rng: random.Random) -> None:
    """A sample of a sample is one sample of the product of the rates."""
    step = rng.choice((str(dense(rng)), str(guarantee(rng)), str(composed(rng, 0))))
    a, b = (Fraction(rng.randint(1, 9), 10) for _ in range(2))
    count = rng.choice((1, 1, 2))
    way, digits, at = direction_of(rng), rng.choice((3, 6)), some(rng, 0.01, 2)
    first = trial.ask(
        "delta", f"poisson(poisson({step}, {a}), {b})^{count}", at, digits=digits, direction=way
    )
    second = trial.ask(
        "delta", f"poisson({step}, {a * b})^{count}", at, digits=digits, direction=way
    )
    trial.overlap(first, second, "nested rates do not multiply")


@family(2)
def amplification(trial: Trial, rng: random.Random) -> None:
    """One sample's profile is that of the step at another point, times the rate."""
    kind = rng.randrange(4)
    if kind == 0:
        scale = rng.choice(("1", "30", "1e3", "1e-20"))
        step = f"laplace({scale})^{rng.choice((2, 9, 1000, 10**6))}"
    elif kind == 1:
        n = rng.randint(8, 41)
        step = " * ".join(f"pure_dp(sqrt({i})/{n})" for i in rng.sample(range(2, 300), n))
    elif kind == 2:
        step = f"discrete_gaussian({rng.randint(2, 50)})^{rng.choice((2, 50))}"
    else:
        step = anything(rng)
        if "poisson" in step:
            step = str(guarantee(rng))
    q = Fraction(rng.choice(("1/2", "1/10", "1/1000", "9/10")))
    digits = rng.choice((2, 4, 8))
    if rng.random() < 0.5:
        x = some(rng, 0.01, 2)
        inside = trial.ask("delta", step, x, digits=digits)
        outside = trial.ask(
            "delta",
            f"poisson({step}, {q})",
            f"log(1+({q})*(exp({x})-1))",
            digits=digits,
            direction="remove",
        )
        image = Enclosure(q * inside.lower, q * inside.upper)
        trial.overlap(image, outside, "a sample is not q times the step")
        return
    target = Fraction(1, 10 ** rng.randint(2, 9))
    inside = trial.ask("epsilon", step, target, digits=digits)
    outside = trial.ask(
        "epsilon", f"poisson({step}, {q})", target * q, digits=digits, direction="remove"
    )
    with precise(400):
        ends = [
            mp.log1p(as_mpf(q, "n") * mp.expm1(as_mpf(end, "n"))) if end != math.inf else mp.inf
            for end in (inside.lower, inside.upper)
        ]
        low, high = as_mpf(outside.lower, "f"), as_mpf(outside.upper, "c")
        blur = 1 + mpf(10) ** -60
        if high * blur < ends[0] or low > ends[1] * blur:
            raise Failed(f"sampled [{mp.nstr(low, 9)}, {mp.nstr(high, 9)}], from the step {ends}")


@family(1.2)
def methods(trial: Trial, rng: random.Random) -> None:
    """The engines agree."""
    m, way, digits = anything(rng), direction_of(rng), rng.choice((2, 3, 4))
    name = rng.choice(("delta", "delta", "epsilon"))
    at = some(rng) if name == "delta" else f"1e-{rng.randint(1, 9)}"
    first = trial.ask(name, m, at, digits=digits, direction=way)
    for method in ("contour", "lattice"):
        try:
            second = trial.ask(name, m, at, digits=digits, direction=way, method=method)
        except Refused:
            continue
        trial.overlap(first, second, f"auto and {method}")


@family(1.5)
def digits(trial: Trial, rng: random.Random) -> None:
    """Few digits and many digits of one number."""
    m, way = anything(rng), direction_of(rng)
    name = rng.choice(("delta", "epsilon", "renyi"))
    at = {"delta": some(rng), "epsilon": target_point(rng), "renyi": rng.choice(("2", "3.5"))}[name]
    first, second = (
        trial.ask(name, m, at, digits=d, direction=way) for d in (2, rng.choice((7, 14)))
    )
    trial.overlap(first, second, "digits against digits")


@family(0.5)
def threads(trial: Trial, rng: random.Random) -> None:
    """Threads that ask for different digits at the same time get the same truths."""
    m, way = composed(rng, 1), direction_of(rng)
    at = some(rng)
    counts = [rng.choice((2, 5, 12, 30, 60)) for _ in range(3)]
    answers: dict[int, Any] = {}

    def ask(i: int) -> None:
        try:
            answers[i] = dpexact.delta(str(m), at, digits=counts[i], direction=way)
        except PrecisionNotReached as error:
            answers[i] = error.best
        except Exception as error:
            answers[i] = error

    trial.calls.append(
        f"threads: dpexact.delta({str(m)!r}, {at!r}, digits in {counts}, direction={way!r})"
    )
    workers = [threading.Thread(target=ask, args=(i,)) for i in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for i in range(3):
        found = answers[i]
        if isinstance(found, UnsupportedMechanism):
            raise Refused(str(found))
        if isinstance(found, Exception):
            raise Failed(f"{type(found).__name__}: {found}")
        trial.contains(found, lambda: ref.delta(m, at, way), f"delta to {counts[i]} digits in ")
