"""Families of random questions, each a function of a trial and a source of randomness."""

from __future__ import annotations

import json
import math
import random
import threading
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf
from soundness import reference as ref
from soundness.reference import Mechanism, NoReference, as_mpf, number, precise
from soundness.trial import Failed, Refused, Trial, interval

import dpexact
from dpexact import Enclosure, PrecisionNotReached, UnsupportedMechanism

Family = Callable[[Trial, random.Random], None]

#: Every family by name, with how often it is drawn beside the others.
FAMILIES: dict[str, tuple[Family, float]] = {}


def family(weight: float) -> Callable[[Family], Family]:
    def register(function: Family) -> Family:
        FAMILIES[function.__name__] = (function, weight)
        return function

    return register


# --- numbers --------------------------------------------------------------------------------------


def digits_of(rng: random.Random) -> int:
    return rng.choice((1, 2, 3, 4, 5, 5, 6, 8, 12, 15, 25))


def direction_of(rng: random.Random) -> str:
    return rng.choice(("remove", "add", "both"))


def some(rng: random.Random, low: float = 0.05, high: float = 3.0) -> str:
    """A number of moderate size: decimal, fraction, logarithm, root."""
    x = rng.uniform(low, high)
    form = rng.randrange(6)
    if form == 0:
        return f"log({rng.randint(3, 9)}/{rng.choice((1, 2))})"
    if form == 1:
        return f"sqrt({rng.randint(2, 7)})*{x:.2g}"
    if form == 2:
        return f"{max(1, round(x * 7))}/7"
    return f"{x:.3g}"


def rate(rng: random.Random) -> str:
    return rng.choice(("1/2", "1/10", "0.3", "0.9", "1/100", "sqrt(2)/5", "1e-6", "1-1e-6"))


def tiny(rng: random.Random, most: int = 300) -> str:
    k = rng.choice((1, 3, 10, 20, 40, 80, 100, 160, 300))
    text = f"1e-{min(k, most)}"
    return f"sqrt(2)*{text}" if rng.random() < 0.3 else text


def fraction_text(x: Fraction) -> str:
    return str(x.numerator) if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


# --- mechanisms -----------------------------------------------------------------------------------


def guarantee(rng: random.Random, eps: Callable[[], str] | None = None) -> Mechanism:
    """A step of finitely many outcomes."""
    draw = eps or (lambda: some(rng))
    kind = rng.randrange(6)
    if kind == 0:
        mass = rng.choice(("1/1000", "0.1", "1e-20", "sqrt(2)/1000", "1/3", "exp(-30)"))
        return ref.approx_dp(draw(), mass)
    if kind == 1:
        return ref.staircase(draw(), rng.choice(("1/3", "0.7", "1/2", "0", "1", "sqrt(2)/3")))
    if kind == 2:
        return ref.discrete_laplace(some(rng, 0.4, 4), rng.randint(1, 3))
    return ref.pure_dp(draw())


def dense(rng: random.Random) -> Mechanism:
    """A step with a density."""
    kind = rng.randrange(4)
    if kind == 0:
        return ref.gdp(some(rng, 0.1, 2))
    if kind == 1:
        return ref.gaussian(some(rng, 0.4, 5), rng.choice(("1", "2", "1/3")))
    return ref.laplace(some(rng, 0.4, 5), rng.choice(("1", "2", "1/3")))


def power(rng: random.Random, most: int) -> int:
    return min(most, rng.choice((1, 1, 1, 2, 2, 3, 4, 7)))


def composed(
    rng: random.Random, depth: int = 2, step: Callable[[], Mechanism] | None = None
) -> Mechanism:
    """Products, samples and samples of samples of finite steps."""
    draw = step or (lambda: guarantee(rng))
    factors = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        one = draw()
        if depth and rng.random() < 0.45:
            inner = composed(rng, depth - 1, step) if rng.random() < 0.5 else one
            one = ref.poisson(inner, rate(rng))
            factors.append((one, power(rng, 2)))
        else:
            factors.append((one, power(rng, 3 if depth == 2 else 2)))
    return factors[0][0] if len(factors) == 1 and factors[0][1] == 1 else ref.product(*factors)


def epsilon_point(rng: random.Random, mechanism: Mechanism) -> str:
    return rng.choice(("0", some(rng), some(rng), some(rng, 0.001, 8), tiny(rng)))


def target_point(rng: random.Random) -> str:
    k = rng.choice((1, 1, 2, 2, 3, 5, 8, 15, 40))
    return rng.choice((f"1e-{k}", f"{rng.uniform(1, 9):.3g}e-{k}", "0", f"exp(-{k})", f"1/{k + 1}"))


# --- questions of every kind ----------------------------------------------------------------------


def ask_delta(trial: Trial, rng: random.Random, m: Mechanism, epsilon: str | None = None) -> None:
    at, way = epsilon or epsilon_point(rng, m), direction_of(rng)
    found = trial.ask("delta", m, at, digits=digits_of(rng), direction=way)
    trial.contains(found, lambda: ref.delta(m, at, way), "delta in ")


def ask_epsilon(
    trial: Trial,
    rng: random.Random,
    m: Mechanism,
    target: str | None = None,
    surplus: str | None = None,
    way: str | None = None,
) -> None:
    at, way = target or target_point(rng), way or direction_of(rng)
    found = trial.ask("epsilon", m, at, digits=digits_of(rng), direction=way)
    trial.contains_epsilon(found, m, at, way, surplus)


def ask_renyi(trial: Trial, rng: random.Random, m: Mechanism) -> None:
    order = rng.choice(("1", "2", "3/2", "5", "10", "1+1e-30", "sqrt(2)", "inf", "17"))
    way = direction_of(rng)
    found = trial.ask("renyi", m, order, digits=digits_of(rng), direction=way)
    trial.contains(found, lambda: ref.renyi(m, order, way), "renyi in ")


def ask_tradeoff(trial: Trial, rng: random.Random, m: Mechanism, alpha: str | None = None) -> None:
    at = alpha or rng.choice(("1/2", "0", "1", some(rng, 0.001, 0.999), "1e-9", "1-1e-9", "1/4"))
    with precise(60):
        if not 0 <= number(at) <= 1:
            at = "1/3"
    digits = digits_of(rng)
    call = f"dpexact.tradeoff({str(m)!r})({at!r}, {digits})"
    found = trial.attempt(call, lambda: dpexact.tradeoff(str(m))(at, digits))
    trial.contains(found, lambda: ref.tradeoff(m, at), "f(alpha) in ")


def ask_curve(trial: Trial, rng: random.Random, m: Mechanism) -> None:
    at, way = target_point(rng), direction_of(rng)
    steps = sorted(rng.sample(range(1, 5), rng.randint(1, 2)))
    answers = trial.ask("epsilon_curve", m, steps, at, digits=digits_of(rng), direction=way)
    if len(answers) != len(steps):
        raise Failed("a curve of another length")
    for count, found in zip(steps, answers, strict=True):
        trial.contains_epsilon(found, ref.product((m, count)), at, way)


def ask_floats(trial: Trial, rng: random.Random, m: Mechanism) -> None:
    points = [rng.choice((0.0, 0.1, 0.5, 1.0, rng.uniform(0, 6))) for _ in range(rng.randint(1, 3))]
    way = direction_of(rng)
    lower, upper = trial.ask("delta_bounds", m, points, way)
    for point, low, high in zip(points, lower, upper, strict=True):
        found = Enclosure(Fraction(float(low)), Fraction(float(high)))
        at = fraction_text(Fraction(point))
        trial.contains(found, lambda at=at: ref.delta(m, at, way), f"delta at {point!r} in ")


def ask_bounds(trial: Trial, rng: random.Random, m: Mechanism) -> None:
    """The exact value contains the truth, and no published bound lies below it."""
    at, way = rng.choice(("1e-3", "1e-5", "0.01", "0.2")), direction_of(rng)
    found = trial.ask("bounds", m, at, digits=4, direction=way)
    if found.exact is not None:
        trial.contains_epsilon(found.exact, m, at, way)
    for bound in found:
        if bound.value is not None and bound.value.upper < math.inf:
            _at_least_epsilon(trial, bound.name, bound.value.upper, m, at, way)


def _at_least_epsilon(
    trial: Trial, name: str, value: Fraction, m: Mechanism, target: str, way: str
) -> None:
    """``delta(value) <= target``."""
    text = fraction_text(max(value, Fraction(0)))
    trial.holds(
        lambda: ref.delta(m, text, way), lambda: (number(target), mpf(0)), f"{name} is no bound"
    )


def ask_verdict(trial: Trial, rng: random.Random, m: Mechanism) -> None:
    """Claims at the truth times ``1 +- 10^-k`` get no wrong verdict."""
    from dpexact.audits.claims import Claim
    from dpexact.audits.verdicts import judge

    way = direction_of(rng)
    quantity = rng.choice(("delta", "epsilon"))
    at = epsilon_point(rng, m) if quantity == "delta" else target_point(rng)
    truth = (
        (lambda: ref.delta(m, at, way))
        if quantity == "delta"
        else (lambda: ref.epsilon(m, at, way))
    )
    k = rng.choice((1, 3, 6, 10, 15, 20, 30, 60))
    sign = rng.choice((-1, 1))  # of the error of the claim
    with precise(1500):
        value, margin = truth()
        if value == mp.inf or value <= 0 or margin > value * mpf(10) ** -80:
            trial.skipped = True
            return
        if not mpf(2) ** -900_000 < value < mpf(2) ** 900_000:
            raise NoReference("beyond the numbers that can be written")
        text = mp.nstr(value * (1 + sign * mpf(10) ** -k), 80)
    if quantity == "delta" and Fraction(text) > 1:
        return
    kind = rng.choice(("upper", "upper", "lower", "estimate"))
    call = (
        f"judge(Claim({str(m)!r}, {quantity!r}, {text!r}, {at!r}, {kind!r}, direction={way!r}), "
        f"15).verdict"
    )
    finding = trial.attempt(
        call, lambda: judge(Claim(str(m), quantity, text, at, kind, direction=way), 15)
    )
    trial.contains(finding.enclosure, truth, f"{quantity} of the finding in ")
    good = {"upper": sign > 0, "lower": sign < 0, "estimate": k >= 3}[kind]
    wrong = ("unsound", "inaccurate") if good else ("sound", "accurate")
    if finding.verdict in wrong:
        raise Failed(f"the verdict is {finding.verdict} at truth * (1 {sign:+d}e-{k})")
    if finding.verdict == "undecided":
        trial.wide = True


def claims_at_the_truth(trial: Trial, rng: random.Random, m: Mechanism, epsilon: str) -> None:
    """A claim of the exact value is right as an upper, a lower and an estimate."""
    from dpexact.audits.claims import Claim
    from dpexact.audits.verdicts import judge

    found = trial.ask("delta", m, epsilon, digits=15)
    if not found.is_exact:
        return
    trial.contains(found, lambda: ref.delta(m, epsilon), "delta in ")
    kind = rng.choice(("upper", "lower", "estimate"))
    call = f"judge(Claim({str(m)!r}, 'delta', {found.lower!r}, {epsilon!r}, {kind!r})).verdict"
    finding = trial.attempt(call, lambda: judge(Claim(str(m), "delta", found.lower, epsilon, kind)))
    if finding.verdict not in ("sound", "accurate", "undecided"):
        raise Failed(f"the truth itself is {finding.verdict}")


#: What the question of a template with a hole seeks: texts around the hole, and whether the least.
_TEMPLATES: tuple[tuple[str, Callable[[str], Mechanism], bool], ...] = (
    ("gaussian(?)", lambda x: ref.gaussian(x), True),
    ("laplace(?)", lambda x: ref.laplace(x), True),
    ("gdp(?)", lambda x: ref.gdp(x), False),
    ("pure_dp(?)", lambda x: ref.pure_dp(x), False),
    ("pure_dp(?)^3", lambda x: ref.product((ref.pure_dp(x), 3)), False),
    ("approx_dp(?, 1/1000)^2", lambda x: ref.product((ref.approx_dp(x, "1/1000"), 2)), False),
    ("approx_dp(1/2, ?)^2", lambda x: ref.product((ref.approx_dp("1/2", x), 2)), False),
    (
        "poisson(pure_dp(1), ?)^2",
        lambda x: ref.product((ref.poisson(ref.pure_dp("1"), x), 2)),
        False,
    ),
    (
        "poisson(pure_dp(?), 1/3)^2",
        lambda x: ref.product((ref.poisson(ref.pure_dp(x), "1/3"), 2)),
        False,
    ),
    ("poisson(gaussian(?), 1/10)", lambda x: ref.poisson(ref.gaussian(x), "1/10"), True),
    ("poisson(laplace(?), 1/10)", lambda x: ref.poisson(ref.laplace(x), "1/10"), True),
    (
        "gaussian(2) * pure_dp(?)",
        lambda x: ref.product((ref.gaussian("2"), 1), (ref.pure_dp(x), 1)),
        False,
    ),
)


@family(6)
def calibration(trial: Trial, rng: random.Random) -> None:
    """One end of the bracket meets the target and the other does not."""
    template, make, least = rng.choice(_TEMPLATES)
    _calibrated(trial, rng, template, make, least, some(rng, 0.05, 4), target_point(rng))


def _calibrated(
    trial: Trial,
    rng: random.Random,
    template: str,
    make: Callable[[str], Mechanism],
    least: bool,
    epsilon: str,
    target: str,
) -> None:
    way = direction_of(rng)
    digits = rng.choice((2, 3, 5, 8))
    goal = lambda: (number(target), abs(number(target)) * ref.unit())  # noqa: E731
    up_to_one = ", ?)" in template
    try:
        found = trial.ask("calibrate", template, epsilon, target, digits=digits, direction=way)
    except Failed as error:
        if "meets the target" not in str(error) or least:
            raise
        trial.holds(goal, lambda: ref.delta(make("0"), epsilon, way), "0 meets the target")
        return

    def at(end: Fraction, way_off: int) -> Callable[[], Any]:
        """delta at an end, moved away from the truth by less than any digit that was asked for."""
        with precise(200):
            text = mp.nstr(as_mpf(end, "n") * (1 + way_off * mpf(10) ** -30), 45)
        return lambda: ref.delta(make(text), epsilon, way)

    private, risky = (found.upper, found.lower) if least else (found.lower, found.upper)
    off = 1 if least else -1
    shown = interval(found)
    if private != math.inf and private > 0:
        trial.holds(at(Fraction(private), off), goal, f"the safe end of {shown} misses the target")
    if risky != math.inf and risky > 0 and not (up_to_one and risky == 1):
        trial.holds(goal, at(Fraction(risky), -off), f"the other end of {shown} meets the target")
    if found.lower == math.inf and least and number(target) > 0:
        raise Failed("some finite noise meets the target")


_COUNTS: tuple[tuple[str, Callable[[int], Mechanism]], ...] = (
    ("pure_dp(1/3)^?", lambda n: ref.product((ref.pure_dp("1/3"), n))),
    ("approx_dp(1/9, 1/1000)^?", lambda n: ref.product((ref.approx_dp("1/9", "1/1000"), n))),
    (
        "poisson(pure_dp(1), 1/10)^?",
        lambda n: ref.product((ref.poisson(ref.pure_dp("1"), "1/10"), n)),
    ),
    ("gaussian(3)^?", lambda n: ref.product((ref.gaussian("3"), n))),
    ("discrete_laplace(3, ?)", lambda n: ref.discrete_laplace("3", n)),
    ("discrete_laplace(2, ?)^2", lambda n: ref.product((ref.discrete_laplace("2", n), 2))),
)


@family(3)
def counting(trial: Trial, rng: random.Random) -> None:
    """The largest number of steps, or sensitivity, that meets the target: the next does not."""
    template, make = rng.choice(_COUNTS)
    epsilon, target = some(rng, 0.3, 4), rng.choice(("1e-2", "1e-4", "1e-6", "0.1", "1e-9"))
    way = direction_of(rng)

    def at(count: int) -> Callable[[], Any]:
        return lambda: ref.delta(make(count), epsilon, way)

    goal = lambda: (number(target), number(target) * ref.unit())  # noqa: E731
    try:
        found = trial.ask("calibrate", template, epsilon, target, direction=way)
    except Failed as error:
        if "meets the target" not in str(error):
            raise
        trial.holds(goal, at(1), "1 meets the target")
        return
    if found.lower > 0:
        trial.holds(at(int(found.lower)), goal, f"{interval(found)} misses the target")
    if found.upper < math.inf:
        next_one = at(int(found.upper) + 1)
        trial.holds(goal, next_one, f"one more than {interval(found)} meets the target")


_KINDS = (
    (ask_delta, 5),
    (ask_epsilon, 5),
    (ask_renyi, 1.5),
    (ask_tradeoff, 1.5),
    (ask_curve, 0.7),
    (ask_floats, 0.7),
    (ask_bounds, 0.15),
    (ask_verdict, 1.5),
)


def ask_anything(trial: Trial, rng: random.Random, m: Mechanism) -> None:
    (kind,) = rng.choices([k for k, _ in _KINDS], [w for _, w in _KINDS])
    kind(trial, rng, m)


# --- families with references ---------------------------------------------------------------------


@family(7)
def outcomes(trial: Trial, rng: random.Random) -> None:
    """Products, samples and nested samples of finite laws."""
    ask_anything(trial, rng, composed(rng))


@family(8)
def fractions(trial: Trial, rng: random.Random) -> None:
    """Everything rational: exact answers."""

    def eps() -> str:
        return f"log({rng.randint(2, 9)})" if rng.random() < 0.8 else f"log({rng.randint(3, 9)}/2)"

    m = composed(rng, 1, lambda: rng.choice((ref.pure_dp(eps()), ref.approx_dp(eps(), "1/7"))))
    at = rng.choice((eps(), "0", f"log({rng.randint(2, 30)}/{rng.randint(1, 20)}+1)"))
    if rng.random() < 0.2:
        claims_at_the_truth(trial, rng, m, at)
        return
    ask_delta(trial, rng, m, at) if rng.random() < 0.4 else ask_anything(trial, rng, m)


@family(16)
def near_equal(trial: Trial, rng: random.Random) -> None:
    """Losses that differ by 10^-300, and epsilons as near to them."""
    base = rng.choice(("1", "sqrt(2)", "log(3)", "1/3"))

    def eps() -> str:
        return rng.choice((base, tiny(rng), f"{base}+{tiny(rng)}", f"{base}*(1+{tiny(rng)})"))

    def step() -> Mechanism:
        if rng.random() < 0.3:
            return guarantee(rng, eps)
        return ref.pure_dp(eps())

    def draw() -> Mechanism:
        inner = step()
        if rng.random() < 0.3:
            inner = ref.product((inner, rng.randint(1, 2)), (step(), 1))
        if rng.random() < 0.5:
            return ref.poisson(inner, rng.choice((tiny(rng), "1/2", f"1/2+{tiny(rng)}", "1/10")))
        return inner

    m = ref.product(*((draw(), rng.choice((1, 2, 2, 3))) for _ in range(rng.randint(1, 2))))
    at = rng.choice(("0", tiny(rng), eps(), f"2*({base})", f"{base}+{tiny(rng)}", "1/2"))
    if rng.random() < 0.6:
        ask_delta(trial, rng, m, at)
    else:
        ask_epsilon(trial, rng, m)


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


@family(1)
def revealing(trial: Trial, rng: random.Random) -> None:
    """Samples of steps that reveal everything, beside others; targets at the mass of that."""
    all_of_it = ref.approx_dp(rng.choice(("0", "1")), "1")
    beside = rng.choice((ref.pure_dp(some(rng)), ref.laplace("1"), ref.gdp("1")))
    sample = ref.poisson(ref.product((all_of_it, 1), (beside, 1)), "1/2")
    times, eps = power(rng, 2), rng.choice(("0", some(rng)))
    m = ref.product((sample, times), (ref.pure_dp(eps), 1))
    if rng.random() < 0.3:
        ask_delta(trial, rng, m, rng.choice(("0", some(rng))))
        return
    mass = f"1-1/2^{times}"
    if rng.random() < 0.4:
        surplus = rng.choice(("1e-30", "-1e-30"))
        ask_epsilon(trial, rng, m, f"{mass}{'+' * (surplus[0] != '-')}{surplus}", surplus, "remove")
        return

    def largest_loss() -> ref.Estimate:
        value = number(eps) - times * mp.log(2)
        return (value if value > 0 else mpf(0)), mpf(2) ** (-mp.prec // 2)

    found = trial.ask("epsilon", m, mass, digits=digits_of(rng), direction="remove")
    trial.contains(found, largest_loss, "epsilon in ")


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


@family(3)
def alphas(trial: Trial, rng: random.Random) -> None:
    """Trade-off functions at their vertices, beside them and at the ends."""
    k = rng.randint(2, 6)
    draw = rng.choice(
        (
            lambda: ref.pure_dp(f"log({k})"),
            lambda: ref.approx_dp(f"log({k})", "1/7"),
            lambda: ref.poisson(ref.pure_dp(f"log({k})"), "1/2"),
            lambda: ref.pure_dp(rng.choice(("1", f"1+{tiny(rng)}", tiny(rng), "1e-3000"))),
        )
    )
    m = ref.product((draw(), power(rng, 3)), (draw(), 1)) if rng.random() < 0.5 else draw()
    corner = rng.choice((f"1/{k + 1}", f"{k}/{k + 1}", f"1/{(k + 1) ** 2}", f"(1/2+1/{k + 1})/2"))
    at = rng.choice((corner, f"{corner}+{tiny(rng)}*1e-2", tiny(rng), f"1-{tiny(rng)}", "0", "1"))
    ask_tradeoff(trial, rng, m, at)


@family(1)
def many_steps(trial: Trial, rng: random.Random) -> None:
    """Thousands of steps of two outcomes, summed term by term."""
    count = rng.choice((20, 100, 100, 500, 2000))
    eps = rng.choice(("1/100", "sqrt(2)/50", "1/3", "1e-5", "log(3)", "4"))
    one = rng.choice(
        (
            lambda: ref.pure_dp(eps),
            lambda: ref.approx_dp(eps, "1e-6"),
            lambda: ref.poisson(ref.pure_dp(eps), rate(rng)),
        )
    )()
    m = ref.product((one, count))
    if rng.random() < 0.7:
        ask_delta(trial, rng, m)
    else:
        ask_epsilon(trial, rng, m)


@family(2)
def printing(trial: Trial, rng: random.Random) -> None:
    """What is printed of an answer is certain too."""
    m, at, way = composed(rng, 1), some(rng), direction_of(rng)
    digits = digits_of(rng)
    found = trial.ask("delta", m, at, digits=digits, direction=way)
    shown = found.to_json(digits)
    low, high = Fraction(shown["lower"]), Fraction(shown["upper"])
    floats = [Fraction(x) for x in found.to_float_bounds()]
    for a, b in ((low, high), (floats[0], floats[1])):
        if not a <= found.lower <= found.upper <= b:
            raise Failed(f"printed as [{a}, {b}]")
        trial.contains(Enclosure(a, b), lambda: ref.delta(m, at, way), "printed ")
    if high - low > Fraction(max(abs(low), abs(high)), 10 ** shown["digits"]):
        raise Failed(f"{shown} are not {shown['digits']} digits")
    text = str(found)
    if "..." in text:
        mantissa, _, exponent = text.partition("...")
        scale = Fraction(10) ** int(exponent[1:] or 0) if exponent else Fraction(1)
        low = Fraction(mantissa) * scale
        high = low + scale / 10 ** len(mantissa.partition(".")[2])
        trial.contains(Enclosure(low, high), lambda: ref.delta(m, at, way), f"{text} says ")


@family(1)
def tiny_targets(trial: Trial, rng: random.Random) -> None:
    """Targets below 2^-1000000."""
    target = rng.choice(("exp(-1000000)", "exp(-693148)", "exp(-693147)", "exp(-10000000)"))
    if rng.random() < 0.25:
        template, make, least = rng.choice(_TEMPLATES)
        _calibrated(trial, rng, template, make, least, rng.choice(("1", "1/2", "3")), target)
        return
    m = rng.choice(
        (lambda: composed(rng, 1), lambda: dense(rng), lambda: ref.poisson(dense(rng), "1/3"))
    )()
    if rng.random() < 0.3:
        ask_tradeoff(trial, rng, m, target)
    elif rng.random() < 0.1:
        ask_curve_at(trial, rng, m, target)
    else:
        ask_epsilon(trial, rng, m, target)


def ask_curve_at(trial: Trial, rng: random.Random, m: Mechanism, target: str) -> None:
    answers = trial.ask("epsilon_curve", m, [1, 2], target, digits=3)
    for count, found in zip((1, 2), answers, strict=True):
        trial.contains_epsilon(found, ref.product((m, count)) if count > 1 else m, target)


@family(5)
def ties(trial: Trial, rng: random.Random) -> None:
    """delta exactly at the probability of infinite loss, and a little beside it."""
    mass = rng.choice(("1/1000", "sqrt(2)/1000", "exp(-5)", "0.3", "1e-40", "log(2)/9"))
    count = rng.randint(1, 3)
    eps = rng.choice(("1", "0", "sqrt(2)", "log(3)"))
    lossy = (ref.approx_dp(eps, mass), count)
    beside = rng.choice(
        (
            [],
            [(ref.gaussian("1"), 1)],
            [(ref.gaussian("1"), 1)],
            [(ref.laplace("2"), 1)] if rng.random() < 0.3 else [],
            [(ref.pure_dp("1/3"), 2)],
            [(ref.staircase("1", "1/3"), 1)],
            [(ref.discrete_gaussian("2"), 1)],
        )
    )
    m = ref.product(lossy, *beside)
    lost = rng.choice((f"1-(1-{mass})^{count}", mass)) if count == 1 else f"1-(1-{mass})^{count}"
    way = "both"
    if rng.random() < 0.3:
        m, lost, way = ref.poisson(m, "1/2"), f"({lost})/2", rng.choice(("remove", "both"))
    surplus = rng.choice(("0", "0", "1e-300", "-1e-300", "sqrt(2)*1e-100", "1e-20", "-1e-20"))
    target = f"{lost}+{surplus}" if surplus[0] != "-" else f"{lost}{surplus}"
    target = lost if surplus == "0" else target
    digits = digits_of(rng)
    method = {"method": "lattice"} if rng.random() < 0.15 else {}
    with precise(2000):
        if not 0 <= number(target) <= 1:
            return
    found = trial.ask("epsilon", m, target, digits=digits, direction=way, **method)
    # the add direction has no infinite loss and meets the target earlier
    trial.contains_epsilon(found, m, target, "remove", surplus)


@family(4)
def long_samples(trial: Trial, rng: random.Random) -> None:
    """A single sample of a long product of different steps, which falls short of the digits."""
    n = rng.choice((3, 6, 8, 11))
    root = rng.choice((2, 3, 5))
    steps = [
        (ref.pure_dp(f"{i}/{n}" if i % 2 else f"sqrt({root})*{i}/{n}"), 1)
        for i in rng.sample(range(1, 3 * n), n)
    ]
    m = ref.poisson(ref.product(*steps), rng.choice(("1/2", "1/10", "0.9", "1e-3")))
    if rng.random() < 0.3:
        m = ref.product((m, 1), (guarantee(rng), 1))
    rng.choice((ask_delta, ask_epsilon))(trial, rng, m)


@family(2)
def halves(trial: Trial, rng: random.Random) -> None:
    """Many different pure steps, met in the middle."""
    n = rng.choice((13, 16, 20))
    steps = [(ref.pure_dp(f"sqrt({i})/{n}"), 1) for i in rng.sample(range(2, 90), n)]
    ask_delta(trial, rng, ref.product(*steps), rng.choice(("0", "1/2", "1", "2", "5")))


@family(1)
def ladders(trial: Trial, rng: random.Random) -> None:
    """Many different pure steps: multiples of two units without a common measure."""
    n = rng.choice((10, 22, 30))
    one = ref.ladder("1/40", rng.sample(range(1, 50), n))
    two = ref.ladder(f"sqrt({rng.choice((2, 3))})/40", rng.sample(range(1, 50), n))
    m = ref.product((one, 1), (two, 1))
    way = direction_of(rng)
    if rng.random() < 0.5:
        ask_delta(trial, rng, m, rng.choice(("0", "1/2", "2", "5", "9")))
        return
    q = rng.choice(("1/2", "1/10", "1e-3"))
    whole = ref.Mechanism(f"poisson({m}, {q})", lambda add: _lazy_sample(m, q, add), True)
    at = rng.choice(("0", "1/3", "1/1000"))
    found = trial.ask("delta", whole, at, digits=rng.choice((2, 4, 8)), direction=way)
    trial.contains(found, lambda: ref.delta(whole, at, way), "delta in ")


@family(0.5)
def nearly_alike(trial: Trial, rng: random.Random) -> None:
    """Different steps as near to each other as 10^-300 lie between two homogeneous products."""
    n, k = rng.choice((3, 9, 25, 45, 60)), rng.choice((12, 30, 100, 300))
    eps = rng.choice(("1/3", "1", "sqrt(2)/9"))
    text = " * ".join(f"pure_dp({eps}*(1+{i}e-{k}))" for i in rng.sample(range(1, 99), n))
    at, way = rng.choice(("0", "1/2", "1", f"{n}*{eps}")), direction_of(rng)
    found = trial.ask("delta", text, at, digits=rng.choice((2, 4, 8)), direction=way)
    low = ref.product((ref.pure_dp(eps), n))
    high = ref.product((ref.pure_dp(f"{eps}*(1+1e-{k - 2})"), n))
    trial.between(found, lambda: ref.delta(low, at), lambda: ref.delta(high, at))


def _lazy_sample(m: Mechanism, q: str, add: bool) -> ref.Pair:
    return ref.Sample(m.pair(False), number(q), add)


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


@family(0.7)
def sampled_outcomes(trial: Trial, rng: random.Random) -> None:
    """Steps of few outcomes on samples, so often that they have many combinations, beside noise."""
    steps = (ref.poisson(guarantee(rng), rate(rng)), rng.choice((2, 5, 12)))
    beside = [(guarantee(rng), power(rng, 4))] if rng.random() < 0.5 else []
    m = ref.product(steps, (dense(rng), 1), *beside)
    rng.choice((ask_delta, ask_delta, ask_epsilon))(trial, rng, m)


@family(2)
def integers(trial: Trial, rng: random.Random) -> None:
    """Discrete Gaussian noise."""
    one = ref.discrete_gaussian(some(rng, 0.3, 4), rng.randint(1, 3))
    if rng.random() < 0.5:
        one = ref.poisson(one, rate(rng))
    m = ref.product((one, 1), (guarantee(rng), 1)) if rng.random() < 0.4 else one
    if "^" not in m.text and rng.random() < 0.15:
        m = ref.product((one, 2))
    at = rng.choice(("0", some(rng), some(rng, 0.1, 6)))
    if rng.random() < 0.6:
        ask_delta(trial, rng, m, at)
    else:
        ask_epsilon(trial, rng, m, f"1e-{rng.randint(1, 9)}")


@family(1)
def types(trial: Trial, rng: random.Random) -> None:
    """Few samples of little discrete noise, of which all outcomes are listed."""
    one = ref.poisson(ref.discrete_gaussian(rng.choice(("1/3", "0.4", "1/2"))), rate(rng))
    beside = [(guarantee(rng), 1)] if rng.random() < 0.5 else []
    m = ref.product((one, 2), *beside)
    at = rng.choice(("0", some(rng), some(rng, 0.1, 9)))
    if rng.random() < 0.5:
        ask_delta(trial, rng, m, at)
    else:
        ask_epsilon(trial, rng, m, f"1e-{rng.randint(1, 12)}")


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
    """A Rényi curve: that of a Gaussian at some orders bounds the Gaussian, and is the best row."""
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
        return least, least * mpf(10) ** -20

    trial.contains(found, best, "delta in ")
    truth = ref.gdp(f"sqrt({count})*{fraction_text(mu)}")
    trial.holds(lambda: ref.delta(truth, at), lambda: (as_mpf(found.upper, "c"), mpf(0)), "below")


def _at_most_one(x: ref.Estimate) -> ref.Estimate:
    return min(x[0], mpf(1)), x[1]


# --- certificates ---------------------------------------------------------------------------------


def _certificate(trial: Trial, text: str, quantity: str, at: str, way: str, digits: int) -> Any:
    from dpexact.certificates import certificate
    from dpexact.conversion import real

    found = trial.ask(quantity, text, at, digits=digits, direction=way)
    return trial.attempt(
        f"certificate(parse({text!r}), {quantity!r}, real({at!r}), {way!r}, <that>)",
        lambda: certificate(dpexact.parse(text), quantity, real(at), way, found),
    )


def _verified(document: Any) -> bool:
    from dpexact import certificate_checker as checker
    from dpexact.certificates import to_text

    try:
        checker.check(checker.read(to_text(document).encode()))
    except (checker.Invalid, checker.Unreadable):
        return False
    return True


@family(2)
def certificates(trial: Trial, rng: random.Random) -> None:
    """A fresh certificate is verified; with bounds moved off the truth it is not."""
    from dpexact import certificate_checker as checker

    m = rng.choice(
        (lambda: composed(rng, 1), lambda: dense(rng), lambda: ref.poisson(dense(rng), rate(rng)))
    )()
    quantity, way = rng.choice(("delta", "epsilon")), direction_of(rng)
    at = some(rng) if quantity == "delta" else f"1e-{rng.randint(1, 7)}"
    document = _certificate(trial, str(m), quantity, at, way, rng.choice((4, 8, 12)))
    if not _verified(document):
        raise Failed("a fresh certificate is not verified")
    (statement,) = document["statements"]
    low, high = (
        math.inf if x == "inf" else Fraction(x) for x in (statement["lower"], statement["upper"])
    )
    if quantity == "delta":
        trial.contains(Enclosure(low, high), lambda: ref.delta(m, at, way), "certified delta in ")
    else:
        trial.contains_epsilon(Enclosure(low, high), m, at, way)
    if low == high or rng.random() < 0.5:
        return
    moved = json.loads(json.dumps(document))
    forged = moved["statements"][0]
    width = high - low
    shift = rng.choice((-1, 1)) * rng.choice((1, 2, 10)) * width
    forged["lower"], forged["upper"] = fraction_text(low + shift), fraction_text(high + shift)
    moved["digest"] = checker.digest(moved)
    if _verified(moved):
        trial.calls.append(f"check of {json.dumps(moved['statements'][0])}")
        raise Failed("bounds beside the truth are verified")


#: Trees of mechanisms that do not exist, each beside one that does and has the same law by formula.
def _impossible(rng: random.Random) -> tuple[str, Any]:
    gaussian_tree = ["gaussian", "1", "1"]
    pure_tree = ["pure_dp", "1"]
    inner = rng.choice((gaussian_tree, pure_tree, ["laplace", "1", "1"]))
    text = {"gaussian": "gaussian(1)", "pure_dp": "pure_dp(1)", "laplace": "laplace(1)"}[inner[0]]
    kind = rng.randrange(8)
    if kind < 3:
        first, second = rng.choice((("2", "1/4"), ("-1/2", "-1"), ("4", "1/8"), ("3/2", "1/3")))
        outer = ["poisson", ["poisson", inner, first], second]
        if rng.random() < 0.5:
            outer = ["poisson", ["poisson", inner, second], first]
        return f"poisson({text}, 1/2)", outer
    return rng.choice(
        (
            ("pure_dp(1)", ["pure_dp", "-1"]),
            ("gaussian(1)", ["gaussian", "-1", "1"]),
            ("gaussian(1)", ["gaussian", "1", "-1"]),
            ("gaussian(1)", ["gaussian", "-1", "-1"]),
            ("laplace(1)", ["laplace", "-1", "-1"]),
            ("laplace(1)", ["laplace", "-1", "1"]),
            ("gdp(1)", ["gdp", "-1"]),
            ("discrete_laplace(2)", ["discrete_laplace", "-2", "1"]),
            ("discrete_laplace(2)", ["discrete_laplace", "-2", "-1"]),
            ("staircase(1, 1/3)", ["staircase", "1", "1/3", "-1"]),
            ("staircase(1, 1/3)", ["staircase", "1", "1/3", "0"]),
            ("discrete_gaussian(2)", ["discrete_gaussian", "-2", "1"]),
            ("discrete_gaussian(2)", ["discrete_gaussian", "2", "-1"]),
            ("pure_dp(1)^2", ["compose", ["repeat", pure_tree, "3"], ["repeat", pure_tree, "-1"]]),
            ("pure_dp(1)^2", ["repeat", ["repeat", pure_tree, "-1"], "-2"]),
            ("pure_dp(1)^2", ["repeat", ["repeat", pure_tree, "4"], "1/2"]),
            ("pure_dp(1)", ["compose", pure_tree, ["repeat", ["gaussian", "1", "1"], "0"]]),
            ("pure_dp(1)", ["compose", pure_tree, ["approx_dp", "0", "-0"]]),
            (
                "approx_dp(1, 1/4)",
                ["compose", ["approx_dp", "1", "-1/2"], ["approx_dp", "0", "1/2"]],
            ),
            (
                "approx_dp(1, 3/4)",
                ["compose", ["approx_dp", "1", "3/2"], ["approx_dp", "0", "3/2"]],
            ),
            ("poisson(pure_dp(1), 1/2)", ["poisson", ["pure_dp", "1"], "3/2"]),
            ("pure_dp(1)", ["compose", pure_tree, ["poisson", ["gaussian", "-1", "1"], "0"]]),
            ("pure_dp(1)", ["compose", pure_tree, ["poisson", ["poisson", pure_tree, "2"], "0"]]),
            ("pure_dp(1)", ["poisson", ["poisson", pure_tree, "2"], "1/2"]),
            ("gaussian(1)", ["poisson", ["poisson", gaussian_tree, "2"], "1/2"]),
        )
    )


@family(2)
def forgeries(trial: Trial, rng: random.Random) -> None:
    """A certificate that speaks of a mechanism that cannot exist is not verified."""
    from dpexact import certificate_checker as checker

    text, tree = _impossible(rng)
    quantity, way = rng.choice(("delta", "epsilon")), direction_of(rng)
    at = "1/2" if quantity == "delta" else "1/100"
    document = _certificate(trial, text, quantity, at, way, 6)
    (statement,) = document["statements"]
    statement["mechanism"] = tree
    try:
        statement["text"] = checker.shown(tree)
        statement["method"] = checker.method_of(checker.steps_of(tree))
    except (checker.Invalid, checker.Unreadable):
        pass
    document["digest"] = checker.digest(document)
    trial.calls.append(f"checker.check(...) of a statement about {json.dumps(tree)}")
    try:
        verified = _verified(document)
    except Exception as error:
        raise Failed(f"the checker stops with {type(error).__name__}: {error}") from error
    if verified:
        raise Failed(f"{checker.shown(tree)} does not exist, and is verified")


# --- metamorphic relations ------------------------------------------------------------------------


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
