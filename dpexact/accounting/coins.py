"""Public coins: one of several mechanisms runs, and everybody sees which.

Hockey-stick divergences and moments of what runs are the convex combinations of those of the parts
(``docs/theory/relations.md``). Few outcomes of all coins are averaged over; more coins are pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Final, Protocol, TypeAlias

from dpexact import balls
from dpexact.accounting.inverted import InvertedProfile
from dpexact.accounting.pairs.coin import Coin, Run
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.arguments import Direction
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    Gaussian,
    Group,
    Mechanism,
    Mix,
    Poisson,
    Replace,
    TruncatedPoisson,
)
from dpexact.mechanisms.base import compose
from dpexact.reals import ONE, ZERO, Real, binomial_tail, bits_of, rational

#: Most outcomes of all coins that are averaged over, and bits of the probability of one.
MAX_OUTCOMES: Final = 64
_MAX_LENGTH: Final = 100_000


def sides(step: Mechanism) -> list[tuple[Real, Mechanism]] | None:
    """The sides of the coin of ``step``, each with its probability; None without a coin."""
    match step:
        case Mix(parts):
            return [(weight, part) for weight, part in parts if weight.fraction != 0]
        case TruncatedPoisson():
            return _truncated(step)
        case Replace(TruncatedPoisson() as cut):
            found = _truncated(cut)
            return [(w, m if isinstance(m, Replace) else Replace(m)) for w, m in found]
    return None


def _truncated(step: TruncatedPoisson) -> list[tuple[Real, Mechanism]]:
    """Whether the batch is cut (``docs/theory/relations.md``, Theorems 5 and 6)."""
    q, n, batch = step.q, step.n, step.batch
    noise = _noise(step.mechanism)
    if noise is None or balls.sign(q, "q") == 0 or batch == 0:
        return [(ONE, Poisson(step.mechanism, ZERO))]
    whole = Poisson(step.mechanism, q)
    if batch >= n:
        return [(ONE, whole)]
    cut = binomial_tail(n - 1, q, batch)
    taken = binomial_tail(n, q, batch + 1) * Fraction(batch, n) / cut
    both = Replace(Poisson(Gaussian(noise / 2), taken))
    return [(1 - cut, whole), (cut, both)] if q.fraction != 1 else [(ONE, both)]


def _noise(mechanism: Mechanism) -> Real | None:
    """The standard deviation over the sensitivity of Gaussian noise; None where nothing is lost."""
    match list(mechanism.steps().items()):
        case [(Gaussian(sigma, sensitivity), 1)]:
            return sigma / sensitivity
        case [(GDP(mu), 1)]:
            return None if balls.sign(mu, "mu") == 0 else 1 / mu
    raise UnsupportedMechanism(f"truncated_poisson is of one gaussian(sigma), not {mechanism}")


def is_cut(step: TruncatedPoisson) -> bool:
    """Whether the bound for cut batches says anything: some batch is cut."""
    found = sides(step)
    return found is not None and any(isinstance(part, Replace) for _, part in found)


def flipped(found: Iterable[tuple[Real, Real, Run]]) -> tuple[Real, Coin | None]:
    """The mass of infinite loss, and a pair for the rest; None where that loses nothing.

    Of each side its probability, its mass of infinite loss, and the pairs for the rest of it.
    """
    lost, kept = ZERO, []
    for chance, mass, run in found:
        lost = lost + chance * mass
        kept.append((chance * (1 - mass), run))
    if lost.fraction == 1:
        return lost, None
    runs = tuple((chance / (1 - lost), run) for chance, run in kept if chance.fraction != 0)
    return lost, Coin.public(runs) if any(run for _, run in runs) else None


def averaged(
    steps: dict[Mechanism, int],
    profile: Callable[[Mechanism, Direction], Profile],
    direction: Direction,
) -> Averaged | None:
    """The average over the outcomes of all coins; None without coins, or of too many outcomes."""
    steps = _spread(steps)
    coins = {step: found for step in steps if (found := sides(step))}
    outcomes = math.prod(
        math.comb(steps[step] + len(found) - 1, len(found) - 1) for step, found in coins.items()
    )
    length = sum(steps[step] * _length(found) for step, found in coins.items())
    if not coins or outcomes > MAX_OUTCOMES or length > _MAX_LENGTH:
        return None
    rest = [step**count for step, count in steps.items() if step not in coins]
    cases: list[tuple[Real, list[Mechanism]]] = [(ONE, rest)]
    for step, found in coins.items():
        cases = [
            (weight * chance, [*run, *laws])
            for weight, run in cases
            for chance, laws in _outcomes(found, steps[step])
        ]
    parts = [(weight, profile(compose(*run), direction)) for weight, run in cases]
    return Averaged(parts, sum(steps[step] for step in coins))


def _length(found: list[tuple[Real, Mechanism]]) -> int:
    """Bits of the longest probability."""
    return max(0 if p.fraction is None else bits_of(p.fraction) for p, _ in found)


def _spread(steps: dict[Mechanism, int]) -> dict[Mechanism, int]:
    """Coins in groups and under replacement are the first to be tossed."""
    found: dict[Mechanism, int] = {}
    for step, count in steps.items():
        inside = step.mechanism.steps() if isinstance(step, Group | Replace) else {}
        cut = isinstance(step, Replace) and sides(step) is None
        kinds = (Mix, TruncatedPoisson) if cut else (Mix,)
        if not any(isinstance(part, kinds) for part in inside):
            found[step] = found.get(step, 0) + count
            continue
        for part, times in inside.items():
            wrapped = partial(_within, step)
            whole = part.with_inner(wrapped) if isinstance(part, Mix) else wrapped(part)
            found[whole] = found.get(whole, 0) + count * times
    return found


def _within(step: Mechanism, inner: Mechanism) -> Mechanism:
    return step.with_inner(lambda _: inner)


def _outcomes(
    found: list[tuple[Real, Mechanism]], count: int
) -> Iterator[tuple[Real, list[Mechanism]]]:
    """How often each side comes up in ``count`` flips, with its probability."""
    (chance, part), *others = found
    for times in range(count + 1) if others else (count,):
        here = chance**times * math.comb(count, times) if times else ONE
        law = [part**times] if times else []
        if not others:
            yield here, law
            continue
        for weight, laws in _outcomes(others, count - times):
            yield here * weight, [*law, *laws]


class Averaged(InvertedProfile):
    """The convex combination of profiles, over the outcomes of so many ``flips``."""

    largest = None
    is_smooth = True

    def __init__(self, parts: list[tuple[Real, Profile]], flips: int) -> None:
        self.parts, self.flips = parts, flips
        lost = rational(0)
        for weight, part in parts:
            if part.infinite.masses:
                lost = lost + weight * part.infinite.mass
        self.infinite = InfiniteLoss() if lost.fraction == 0 else InfiniteLoss(((lost, 1),))
        self.method = "average over public coins"
        self.sharp = all(part.sharp for _, part in parts)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self.deltas([epsilon], digits)[0]

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        chances = [
            balls.certify(partial(balls.ball, weight), digits + 3, lowest=Fraction(0))
            for weight, _ in self.parts
        ]
        rows = [part.deltas(epsilons, digits + 2) for _, part in self.parts]
        return [self._mean(chances, found) for found in zip(*rows, strict=True)]

    def _mean(self, chances: Sequence[Enclosure], found: Sequence[Enclosure]) -> Enclosure:
        lower = upper = Fraction(0)
        for chance, one in zip(chances, found, strict=True):
            lower += Fraction(chance.lower) * Fraction(one.lower)
            upper += Fraction(chance.upper) * Fraction(one.upper)
        reason = next((one.reason for one in found if one.reason), "")
        return Enclosure(min(lower, Fraction(1)), min(upper, Fraction(1)), self.method, reason)

    def largest_loss(self, digits: int) -> Enclosure:
        first, *others = (part.largest_loss(digits) for _, part in self.parts)
        for other in others:
            first = first.larger(other)
        return first.labelled(self.method)


class Inside(Protocol):
    """A composition that runs on a sample, in a group, or on one side of a coin."""

    @property
    def is_gaussian(self) -> bool:
        """Whether nothing but Gaussians runs."""

    @property
    def noise(self) -> Real | None:
        """Their standard deviation over the sensitivity; None without any."""

    def guaranteed(self) -> tuple[Real, Real] | None:
        """A single best ``(eps, delta)``; None where there is none."""

    def outcomes(self, most: int, *, samples: bool = False) -> list[Atom]:
        """All outcomes of finite laws, those of infinite loss and, if asked for, samples too.

        Raises:
            UnsupportedMechanism: some law is not finite, or there are more combinations.
        """

    def run(self) -> tuple[Real, Run]:
        """The mass of infinite loss, and pairs with moments for the rest.

        Raises:
            UnsupportedMechanism: some part has none.
        """


Composed: TypeAlias = Callable[[Mechanism], Inside]
"""What there is inside."""
