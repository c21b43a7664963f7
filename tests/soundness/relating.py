"""Families of groups, replacement, mixtures, cut batches, coins, allocation, shuffles and pairs.

Their pairs are written again: mixtures of normal laws by the root of a monotone ratio, coins as
sums, finite laws outcome by outcome.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf
from soundness import reference as ref
from soundness.asking import (
    ask_delta,
    ask_epsilon,
    ask_renyi,
    ask_tradeoff,
    digits_of,
    family,
    some,
)
from soundness.reference import Estimate, Mechanism, NoReference, Outcomes, Pair, number, unit
from soundness.trial import Trial

import dpexact

Law = list[tuple[Any, Any]]
"""Weights and shifts."""


# --- laws -----------------------------------------------------------------------------------------


@dataclass(eq=False)
class Mixture(Pair):
    """``sum p N(a, 1)`` against ``sum r N(-b, 1)``, ``a, b >= 0``: the ratio rises."""

    up: Law
    down: Law
    lost = ghost = mpf(0)

    def swapped(self) -> Mixture:
        return Mixture(self.down, self.up)  # reflected

    @property
    def unbounded(self) -> bool:
        return any(shift > 0 for _, shift in self.up)

    def ratio(self, z: Any) -> Any:
        above = mp.fsum(p * mp.exp(a * z - a * a / 2) for p, a in self.up)
        return above / mp.fsum(r * mp.exp(-b * z - b * b / 2) for r, b in self.down)

    def core(self, a: Any, b: Any) -> Estimate:
        level, low, high = b / a, mpf(-1), mpf(1)
        while self.ratio(low) > level:
            low *= 2
            if low < -(10**6):
                return max(a - b, mpf(0)), (a + b) * unit()
        while self.ratio(high) < level:
            high *= 2
            if high > 10**6:
                return mpf(0), (a + b) * unit()
        for _ in range(mp.prec // 2 + 40):  # what is left counts squared
            middle = (low + high) / 2
            low, high = (middle, high) if self.ratio(middle) < level else (low, middle)
        gain = a * mp.fsum(p * mp.ncdf(x - low) for p, x in self.up)
        loss = b * mp.fsum(r * mp.ncdf(-x - low) for r, x in self.down)
        lost_bits = (1 + low * low) * mpf(2) ** (32 - mp.prec)
        return max(gain - loss, mpf(0)), (gain + loss) * (unit() + lost_bits)

    def renyi(self, order: Any) -> Estimate:
        raise NoReference("moments of a mixture")


@dataclass(eq=False)
class Coin(Pair):
    """One of several pairs, by a coin that is seen."""

    sides: list[tuple[Any, Pair]]

    @property
    def lost(self) -> Any:  # type: ignore[override]
        return mp.fsum(w * side.lost for w, side in self.sides)

    @property
    def ghost(self) -> Any:  # type: ignore[override]
        return mp.fsum(w * side.ghost for w, side in self.sides)

    @property
    def unbounded(self) -> bool:
        return any(side.unbounded for _, side in self.sides)

    def swapped(self) -> Coin:
        return Coin([(w, side.swapped()) for w, side in self.sides])

    def core(self, a: Any, b: Any) -> Estimate:
        found = [(w, side.excess(a, b)) for w, side in self.sides]
        return mp.fsum(w * v for w, (v, _) in found), mp.fsum(w * m for w, (_, m) in found)

    def renyi(self, order: Any) -> Estimate:
        raise NoReference("moments of a coin")


@dataclass(eq=False)
class OneOf(Pair):
    """A record takes part in one of ``t`` steps: sums of variables on a lattice, in floats.

    A variable is split between two points of equal mean, an error of second order, which the
    difference between two lattices shows.
    """

    sigma: Any
    add: bool
    t: int
    lost = ghost = mpf(0)
    unbounded = True  # type: ignore[assignment]

    def swapped(self) -> OneOf:
        return OneOf(self.sigma, not self.add, self.t)

    def core(self, a: Any, b: Any) -> Estimate:
        level = float(a / b if self.add else b / a)
        fine, coarse = (self.put(level, cells) for cells in (1 << 13, 1 << 12))
        blur = 2 * abs(fine - coarse) + 1e-11 * (1 + level)
        if self.add:
            return b * mpf(fine), b * mpf(blur)
        return max(a * (fine + 1 - mpf(level)), mpf(0)), a * mpf(blur)

    def put(self, level: float, cells: int) -> float:
        """``E (level - S)_+``."""
        a = 1 / float(self.sigma)
        points = self.t * level * np.arange(cells + 1) / cells
        with np.errstate(divide="ignore"):
            scaled = np.log(points) / a
        masses, means = (np.diff(normal(scaled + shift)) for shift in (a / 2, -a / 2))
        right = (means - points[:-1] * masses) / points[1]
        law = np.zeros(cells + 1)
        law[:-1] += masses - right
        law[1:] += right
        total, left = np.eye(1, cells + 1)[0], self.t
        while left:
            if left & 1:
                total = convolved(total, law)
            law, left = convolved(law, law), left >> 1
        return float(total @ (level - points / self.t))

    def renyi(self, order: Any) -> Estimate:
        if self.add or order != int(order):
            raise NoReference("moments of an allocation")
        n = int(order)  # E S^n over how often each variable occurs
        a = 1 / self.sigma
        terms = [mp.exp(a * a * j * (j - 1) / 2) / mp.factorial(j) for j in range(n + 1)]
        total = [mpf(1)] + [mpf(0)] * n
        for _ in range(self.t):
            total = [mp.fsum(total[i] * terms[k - i] for i in range(k + 1)) for k in range(n + 1)]
        value = mp.log(mp.factorial(n) * total[n] / mpf(self.t) ** n) / (n - 1)
        return value, value * unit()


def normal(x: Any) -> Any:
    """The normal distribution function of floats."""
    return np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in x])


def convolved(x: Any, y: Any) -> Any:
    """The first half of a convolution."""
    size = 2 * len(x)
    return np.fft.irfft(np.fft.rfft(x, size) * np.fft.rfft(y, size), size)[: len(x)]


def directed(text: str, make: Callable[[], Pair]) -> Mechanism:
    """A pair in direction remove, and its reverse."""

    def way(add: bool) -> Pair:
        return make().swapped() if add else make()

    return Mechanism(text, way, True)


def mixture(text: str, sigma: str, up: Callable[[], Law], down: Callable[[], Law]) -> Mechanism:
    """Shifts in units of the sensitivity."""

    def law(shifts: Law) -> Law:
        return [(w, shift / number(sigma)) for w, shift in shifts if w > 0]

    return directed(text, lambda: Mixture(law(up()), law(down())))


STILL: Law = [(mpf(1), mpf(0))]


def binomial(n: int, q: Any) -> Law:
    return [(math.comb(n, j) * q**j * (1 - q) ** (n - j), mpf(j)) for j in range(n + 1)]


def _noise(rng: random.Random) -> str:
    return rng.choice(("1/4", "1/2", "1", "3/2", "3", "20"))


def _rate(rng: random.Random) -> str:
    return rng.choice(("1/1000", "1/10", "1/3", "1/2", "9/10"))


def grouped(rng: random.Random) -> Mechanism:
    sigma, q, k = _noise(rng), _rate(rng), rng.randint(1, 5)
    text = f"group(poisson(gaussian({sigma}), {q}), {k})"
    return mixture(text, sigma, lambda: binomial(k, number(q)), lambda: STILL)


def replaced(rng: random.Random) -> Mechanism:
    sigma, q = _noise(rng), _rate(rng)
    law = lambda: binomial(1, number(q))  # noqa: E731
    return mixture(f"replace(poisson(gaussian({sigma}), {q}))", sigma, law, law)


def several(rng: random.Random) -> Mechanism:
    sigma = _noise(rng)
    weights = rng.choice((("1/2", "1/4", "1/4"), ("9/10", "1/20", "1/20"), ("0", "1/3", "2/3")))
    shifts = rng.choice((("0", "1", "2"), ("1/2", "1", "3")))
    listed = ", ".join(f"{s}: {w}" for s, w in zip(shifts, weights, strict=True))
    law = lambda: [(number(w), number(s)) for s, w in zip(shifts, weights, strict=True)]  # noqa: E731
    return mixture(f"gaussian_mixture({sigma}, {listed})", sigma, law, lambda: STILL)


def cut(rng: random.Random) -> Mechanism:
    sigma, q, n = _noise(rng), _rate(rng), rng.randint(1, 12)
    most = rng.randint(1, n)

    def make() -> Pair:
        s, rate = number(sigma), number(q)
        whole = Mixture([(1 - rate, mpf(0)), (rate, 1 / s)], STILL)
        if most >= n:
            return whole
        share = mp.fsum(w for w, j in binomial(n - 1, rate) if j >= most)
        over = mp.fsum(w for w, j in binomial(n, rate) if j > most)
        taken = over * most / (n * share)
        side = [(1 - taken, mpf(0)), (taken, 2 / s)]
        return Coin([(1 - share, whole), (share, Mixture(side, side))])

    return directed(f"truncated_poisson(gaussian({sigma}), {q}, {n}, {most})", make)


def mixed(rng: random.Random) -> Mechanism:
    one, two = rng.choice((grouped, several, cut))(rng), rng.choice((several, replied))(rng)
    if one.text.startswith("group"):
        one = several(rng)
    w = rng.choice(("1/2", "1/100", "2/3"))
    rest = f"1-{w}"
    text = f"mix({w}: {one}, {rest}: {two})"
    return Mechanism(
        text,
        lambda add: Coin([(number(w), one.pair(add)), (1 - number(w), two.pair(add))]),
        True,
    )


def allocated(rng: random.Random) -> Mechanism:
    sigma, t = rng.choice(("3/4", "1", "3/2", "3")), rng.choice((2, 2, 3, 5, 10, 30))
    text = f"allocation(gaussian({sigma}), {t})"
    return Mechanism(text, lambda add: OneOf(number(sigma), add, t), True)


def replied(rng: random.Random) -> Mechanism:
    eps, k = some(rng, 0.05, 4), rng.choice((2, 3, 10, 1000))

    def make() -> Outcomes:
        e = mp.exp(number(eps))
        total = e + k - 1
        rest = [((k - 2) / total, (k - 2) / total)] if k > 2 else []
        return Outcomes([(e / total, 1 / total), (1 / total, e / total), *rest])

    return Mechanism(f"randomized_response({eps}, {k})", lambda add: make())


def given(rng: random.Random) -> Mechanism:
    p, q = ([rng.randint(0, 6) for _ in range(rng.randint(2, 5))] for _ in range(2))
    p, q = ([*law[: min(len(p), len(q))]] for law in (p, q))
    p[0], q[-1] = p[0] + 1, q[-1] + 1
    law = [(f"{x}/{sum(p)}", f"{y}/{sum(q)}") for x, y in zip(p, q, strict=True)]

    def make() -> Outcomes:
        pairs = [(number(x), number(y)) for x, y in law]
        lost = mp.fsum(x for x, y in pairs if y == 0)
        ghost = mp.fsum(y for x, y in pairs if x == 0)
        return Outcomes([(x, y) for x, y in pairs if x > 0 and y > 0], lost, ghost)

    return directed("pair(" + ", ".join(f"({x}, {y})" for x, y in law) + ")", make)


def tossed(rng: random.Random) -> Mechanism:
    """A coin over finite laws, of which one may be on a sample: the outcomes of both sides."""
    (one, two), w = (rng.choice((given, replied))(rng) for _ in "ab"), _rate(rng)
    if rng.random() < 0.3:
        two = ref.poisson(two, _rate(rng))

    def make(add: bool) -> Outcomes:
        atoms, lost, ghost = [], mpf(0), mpf(0)
        for chance, side in ((number(w), one.pair(add)), (1 - number(w), two.pair(add))):
            assert isinstance(side, Outcomes)
            atoms += [(chance * p, chance * q) for p, q in side.atoms]
            lost, ghost = lost + chance * side.lost, ghost + chance * side.ghost
        return Outcomes(atoms, lost, ghost)

    return Mechanism(f"mix({w}: {one}, 1-{w}: {two})", make, True)


def shuffled(rng: random.Random) -> Mechanism:
    eps, n = some(rng, 0.05, 3), rng.randint(1, 9)

    def make() -> Outcomes:
        e = mp.exp(number(eps))
        masses: dict[tuple[int, int], tuple[Any, Any]] = {}
        for w, count in binomial(n - 1, 1 / e):
            for half, heads in binomial(int(count), mpf(1) / 2):
                one, two = int(heads), int(count - heads)
                for place, p, q in (((one + 1, two), e, 1), ((one, two + 1), 1, e)):
                    x, y = masses.get(place, (mpf(0), mpf(0)))
                    masses[place] = x + w * half * p / (1 + e), y + w * half * q / (1 + e)
        return Outcomes(list(masses.values()))

    return Mechanism(f"shuffle(pure_dp({eps}), {n})", lambda add: make())


def correlated(rng: random.Random) -> Mechanism:
    """Correlated noise from the columns of the matrix: one sampled round, or rounds of all."""
    sigma, steps = _noise(rng), rng.randint(1, 9)
    later = (f"{rng.randint(-9, 9)}/8" for _ in range(rng.randint(0, 3)))
    column = [str(rng.randint(1, 9)), *later][:steps]
    groups = rng.randint(len(column), max(len(column), steps))
    q = _rate(rng) if groups >= steps else "1"

    def make() -> Mixture:
        squares = [
            [mp.fsum(number(x) ** 2 for x in column[: steps - j]) for j in range(g, steps, groups)]
            for g in range(min(groups, steps))
        ]
        moved = max(mp.sqrt(mp.fsum(group)) for group in squares) / number(sigma)
        rate = number(q)
        return Mixture([(1 - rate, mpf(0)), (rate, moved)], STILL)

    found = dpexact.banded(column, sigma, q, steps=steps, cycle=groups)
    return directed(str(found), make)


# --- families -------------------------------------------------------------------------------------


@family(2)
def allocation(trial: Trial, rng: random.Random) -> None:
    """One of several steps at random: sums on a lattice, and moments as sums."""
    m, digits = allocated(rng), rng.choice((2, 4, 6))
    if rng.random() < 0.3:
        order = rng.choice(("2", "3", "5"))
        found = trial.ask("renyi", m, order, digits=digits, direction="remove")
        trial.contains(found, lambda: ref.renyi(m, order, "remove"), "renyi in ")
        return
    at, way = rng.choice(("0", "-1/2", some(rng, 0.01, 2))), rng.choice(("remove", "add"))
    found = trial.ask("delta", m, at, digits=digits, direction=way)
    truth = ref.delta(m, at, way)  # less sharp than the answer, which is no reason to skip
    trial.between(found, lambda: truth, lambda: truth)


@family(2)
def shuffle(trial: Trial, rng: random.Random) -> None:
    """Shuffled reports, once or a few times."""
    m = shuffled(rng)
    if rng.random() < 0.4:
        m = ref.product((m, rng.randint(2, 3)))
    rng.choice((ask_delta, ask_delta, ask_epsilon, ask_tradeoff))(trial, rng, m)


@family(2)
def noisy_maxima(trial: Trial, rng: random.Random) -> None:
    """Permute-and-flip: what some scores lose, and Laplace noise; two candidates below."""
    eps, times = some(rng, 0.05, 4), rng.choice((1, 1, 2, 3))
    grid = [(rng.randint(-8, 8), rng.choice((-2, 2))) for _ in range(rng.randint(2, 5))]

    def run(moves: list[tuple[int, int]]) -> Mechanism:
        def make() -> Outcomes:
            laws = (flipped([number(eps) * (s + i * d) / 4 for s, d in moves]) for i in (0, 1))
            return Outcomes(list(zip(*laws, strict=True)))

        return ref.product((Mechanism(f"permute_and_flip({eps})", lambda add: make()), times))

    at = rng.choice(("0", some(rng, 0.01, 1), some(rng)))
    found = trial.ask("delta", run(grid), at, digits=digits_of(rng))
    trial.between(found, lambda: ref.delta(run(grid), at), lambda: (mpf(1), mpf(0)))
    if times > 1:
        below = dpexact.Enclosure(found.at_least, found.upper)
        middle = run([(1, -2), (-1, 2)])
        trial.between(below, lambda: (mpf(0), mpf(0)), lambda: ref.delta(middle, at))
    if times < 3:
        noise = ref.product((ref.laplace(f"1/({eps})"), times))
        trial.contains(found, lambda: ref.delta(noise, at))


def flipped(scores: list[Any]) -> list[Any]:
    """Who wins with exponential noise: a polynomial integrated for every candidate."""
    weights, law = [mp.exp(score - max(scores)) for score in scores], []
    for i, weight in enumerate(weights):
        terms = [weight]
        for other in weights[:i] + weights[i + 1 :]:
            terms = [x - other * y for x, y in zip([*terms, mpf(0)], [mpf(0), *terms], strict=True)]
        law.append(mp.fsum(x / (k + 1) for k, x in enumerate(terms)))
    return law


@family(1)
def banded(trial: Trial, rng: random.Random) -> None:
    """Noise that a banded matrix correlates."""
    ask_delta(trial, rng, correlated(rng), rng.choice(("0", some(rng), some(rng, 0.01, 6))))


@family(4)
def mixtures(trial: Trial, rng: random.Random) -> None:
    """One step, alone or beside a finite one."""
    m = rng.choice((grouped, replaced, several, cut, mixed))(rng)
    kind = str(m).split("(")[0]
    if kind not in ("group", "replace") and rng.random() < 0.3:
        m = ref.product((m, 1), (ref.pure_dp(some(rng)), 1))
    ask_delta(trial, rng, m, rng.choice(("0", "-1/2", some(rng), some(rng, 0.01, 6))))


@dataclass(eq=False)
class Crowd(Mixture):
    """A mixture of very many laws, without those that weigh nothing; ``dropped`` in all."""

    dropped: Any

    def swapped(self) -> Crowd:
        return Crowd(self.down, self.up, self.dropped)

    def core(self, a: Any, b: Any) -> Estimate:
        value, margin = Mixture.core(self, a, b)
        return value, margin + (a + b) * self.dropped


@family(0.3)
def large_groups(trial: Trial, rng: random.Random) -> None:
    """One step for very many records."""
    k, q, mean = rng.choice(
        ((100, "1/100", 1), (100, "1/4", 25), (1_000, "1/100", 10), (10_000, "1/1000", 10))
    )
    sigma = f"{mean}*{rng.choice(('1/2', '1', '4'))}"

    def make() -> Pair:
        rate, least = number(q), mpf(2) ** (-mp.prec // 2)
        weight, kept = (1 - rate) ** k, []
        for j in range(k + 1):
            if weight > least:
                kept.append((weight, j / number(sigma)))
            elif kept:
                break
            weight *= rate / (1 - rate) * (k - j) / (j + 1)
        return Crowd(kept, STILL, k * least)

    m = directed(f"group(poisson(gaussian({sigma}), {q}), {k})", make)
    ask_delta(trial, rng, m, rng.choice(("0", some(rng, 0.01, 1), some(rng))))


@family(3)
def finite_pairs(trial: Trial, rng: random.Random) -> None:
    """Pairs as given, responses of many answers, and powers of both on samples."""
    m = rng.choice((given, replied, tossed))(rng)
    if rng.random() < 0.4:
        m = ref.product((m, rng.randint(2, 3)))
    if rng.random() < 0.4:
        sample = ref.poisson(m, _rate(rng))
        beside = [(rng.choice((given, replied, tossed))(rng), 1)] if rng.random() < 0.5 else []
        m = ref.product((sample, rng.randint(1, 2)), *beside)
    rng.choice((ask_delta, ask_delta, ask_epsilon, ask_tradeoff, ask_renyi))(trial, rng, m)


@family(2)
def bounded_losses(trial: Trial, rng: random.Random) -> None:
    """Epsilon at delta 0 of an added record, and how many steps stay below it."""
    q, steps = _rate(rng), rng.randint(1, 20)
    rest = f"1-{q}"
    sigma = _noise(rng)
    step = rng.choice(
        (
            f"poisson(gaussian({sigma}), {q})",
            f"gaussian_mixture({sigma}, 0: {rest}, 1: {q})",
            f"truncated_poisson(gaussian({sigma}), {q}, 7, 7)",
            f"mix(1/3: poisson(gaussian({sigma}), {q}), 2/3: gdp(0))",
        )
    )
    truth = lambda: (-steps * mp.log1p(-number(q)), unit())  # noqa: E731
    digits = digits_of(rng)
    found = trial.ask("epsilon", f"{step}^{steps}", "0", digits=digits, direction="add")
    trial.contains(found, truth, "the largest loss in ")
    above = trial.ask("calibrate", f"{step}^?", f"-{steps}*log(1-{q})+1/10^6", "0", direction="add")
    trial.contains(above, lambda: (mpf(steps), mpf(0)), "steps in ")
