"""Families of laws of finitely many outcomes, against sums over all of them."""

from __future__ import annotations

import random
from fractions import Fraction

from mpmath import mp, mpf
from soundness import reference as ref
from soundness.asking import (
    ask_anything,
    ask_delta,
    ask_epsilon,
    ask_tradeoff,
    claims_at_the_truth,
    composed,
    dense,
    digits_of,
    direction_of,
    family,
    guarantee,
    power,
    rate,
    some,
    tiny,
)
from soundness.reference import Mechanism, number, precise
from soundness.trial import Failed, Trial

from dpexact import Enclosure


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
