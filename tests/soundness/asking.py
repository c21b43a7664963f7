"""How questions are asked: random numbers and mechanisms, and what every answer has to hold."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

from mpmath import mp, mpf
from soundness import reference as ref
from soundness.reference import Mechanism, NoReference, number, precise
from soundness.trial import Failed, Trial

import dpexact
from dpexact import Enclosure

Family = Callable[[Trial, random.Random], None]


#: Every family by name, with how often it is drawn beside the others.
FAMILIES: dict[str, tuple[Family, float]] = {}


def family(weight: float) -> Callable[[Family], Family]:
    def register(function: Family) -> Family:
        FAMILIES[function.__name__] = (function, weight)
        return function

    return register


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


def ask_curve_at(trial: Trial, rng: random.Random, m: Mechanism, target: str) -> None:
    answers = trial.ask("epsilon_curve", m, [1, 2], target, digits=3)
    for count, found in zip((1, 2), answers, strict=True):
        trial.contains_epsilon(found, ref.product((m, count)) if count > 1 else m, target)
