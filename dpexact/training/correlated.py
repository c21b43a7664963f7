"""Training with correlated noise: matrix mechanisms, banded ones on samples among them.

What is released is ``C x + z``: ``x`` the clipped sums of the steps, ``z`` independent noise, and
``C`` the strategy matrix. Proofs: ``docs/theory/correlated-noise.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from math import isqrt
from typing import Final

from dpexact.arguments import MAX_COUNT, integer_in, real_in
from dpexact.conversion import RealLike, real
from dpexact.decimals import format_decimal
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import Gaussian, Mechanism, gaussian, gdp, poisson, pure_dp
from dpexact.mechanisms.base import compose
from dpexact.mechanisms.template import BLANK, Hole, Template
from dpexact.reals import ONE, Real, rational, rational_root, square_root
from dpexact.tokens import shorten
from dpexact.training.matrices import (
    Sensitivity,
    fixed_epochs,
    once,
    separated,
    strategy,
)

#: Digits to which roots are first found before they are rounded up.
_SPARE: Final = 10


@dataclass(frozen=True)
class CorrelatedRun:
    """What a record's part in a run with correlated noise amounts to, but for the noise.

    Gaussian noise on ``parts``: sensitivities, each with how often, each time on a sample of
    ``rate``. Unless ``attained`` they are upper bounds. ``steps`` are those of the whole run.
    """

    rate: Real
    parts: tuple[tuple[Real, int], ...]
    steps: int
    attained: bool = True
    words: tuple[str, ...] = ()

    def mechanism(self, sigma: RealLike) -> Mechanism:
        """The run with noise of standard deviation ``sigma`` times the clipping norm."""
        noise = real_in(sigma, "sigma", "> 0")
        if self.attained:
            return self._made(lambda sensitivity: gaussian(noise, sensitivity))
        return self._made(lambda sensitivity: gdp(sensitivity / noise))

    @property
    def template(self) -> Template:
        """The run with an unknown in place of the noise."""
        made = self._made(lambda moved: Hole(Gaussian, (("sensitivity", moved), ("sigma", BLANK))))
        return Template(str(self.mechanism(1)).replace("gaussian(1", "gaussian(?"), made)

    def _made(self, noisy: Callable[[Real], Mechanism]) -> Mechanism:
        steps = []
        for sensitivity, count in self.parts:
            step = noisy(sensitivity)
            steps.append((step if self.rate == ONE else poisson(step, self.rate)) ** count)
        return compose(*steps) if steps else pure_dp(0)


def banded(
    matrix: object,
    sigma: RealLike,
    q: RealLike,
    *,
    steps: RealLike | None = None,
    cycle: RealLike | None = None,
    figures: int | None = None,
) -> Mechanism:
    """A banded matrix mechanism under cyclic Poisson sampling.

    Every record belongs to one of ``cycle`` groups, whatever the others do; in step ``i`` each
    record of group ``i mod cycle`` takes part with probability ``q``. Released is ``C x + z``,
    ``z`` of standard deviation ``sigma`` times the clipping norm. No row of a lower triangular
    ``C`` with at most ``cycle`` bands sees two steps of one group, so the run is a product of
    samples of Gaussian noise, whose sensitivities are the norms of the group's columns
    (Choquette-Choo et al. 2023, *(Amplified) Banded Matrix Factorization*; with proof in
    ``docs/theory/correlated-noise.md``). Neighbours: one record added or removed.

    Args:
        matrix: ``C``, a square array, or the first column of a Toeplitz one. Floats mean their
            exact values.
        sigma: positive.
        q: in ``[0, 1]``.
        steps: of a Toeplitz matrix that is given by its first column.
        cycle: the number of groups; that of the bands if not given.
        figures: round norms up to so many figures, and take from all groups the largest ones: an
            upper bound, where no group loses more than all others or norms are all different.

    Raises:
        InvalidInput: an argument out of its domain.
        UnsupportedMechanism: the matrix is not lower triangular, has more bands than ``cycle``, or
            no group is worst in every respect and ``figures`` is not given.

    >>> print(banded([1, "1/2"], 1, "1/10", steps=6))
    poisson(gaussian(1, sqrt(1.25)), 0.1)^3
    """
    return banded_run(matrix, q, steps=steps, cycle=cycle, figures=figures).mechanism(sigma)


def banded_run(
    matrix: object,
    q: RealLike,
    *,
    steps: RealLike | None = None,
    cycle: RealLike | None = None,
    figures: int | None = None,
) -> CorrelatedRun:
    """:func:`banded` but for the noise."""
    rate = real_in(q, "q", ">= 0", "<= 1")
    found = strategy(matrix, steps)
    if found.bands > found.steps or getattr(found, "rows", found.steps) != found.steps:
        raise InvalidInput("matrix: it must be square")
    groups = found.bands if cycle is None else integer_in(cycle, "cycle", 1, MAX_COUNT)
    if groups < found.bands:
        raise UnsupportedMechanism(
            f"cycle: of {groups} groups, and {found.bands} bands: steps of one record would share "
            "noise, and no exact account of that is known here"
        )
    columns = found.groups(min(groups, found.steps))
    if figures is None:
        worst = _dominating(columns)
        parts = tuple((square_root(rational(s)), n) for s, n in worst.items() if s)
    else:
        digits = integer_in(figures, "figures", 1, 100)
        rounded = [_rounded(squares, digits) for squares in columns]
        parts = tuple((rational(s), n) for s, n in _largest(rounded).items() if s)
    words = (
        f"Every record belongs to one of {groups:,} groups, and takes part with probability "
        f"{rate} in each step of its group; of {found.steps:,} steps that are at most "
        f"{-(-found.steps // groups):,}.",
    )
    return CorrelatedRun(rate, parts, found.steps, words=words)


def jax_privacy_words(run: CorrelatedRun) -> tuple[str, ...]:
    """How JAX Privacy accounts for a banded run: as many steps, all of the largest norm."""
    if not run.parts:
        return ()
    rounds, most = sum(count for _, count in run.parts), run.parts[0][0]
    said = f"JAX Privacy counts {rounds:,} samples, with noise over {shorten(str(most))}"
    shorter = len(run.parts) > 1
    return (said + (", where some columns are shorter." if shorter else "."),)


def _dominating(groups: list[Counter[Fraction]]) -> Counter[Fraction]:
    """The group that loses most, if one has the larger norms throughout."""
    ordered = [sorted(group.elements(), reverse=True) for group in groups]
    worst = max(ordered)
    for other in ordered:
        if len(other) > len(worst) or any(a < b for a, b in zip(worst, other, strict=False)):
            raise UnsupportedMechanism(
                "matrix: no group of columns has the largest norms throughout; give figures, as "
                "in figures=8, for an upper bound of that many"
            )
    return Counter(worst)


def _largest(groups: Iterable[Counter[Fraction]]) -> Counter[Fraction]:
    """The largest norms of all groups, place by place: no group loses more."""
    ordered = [sorted(group.elements(), reverse=True) for group in groups]
    most = max(map(len, ordered))
    padded = [group + [Fraction(0)] * (most - len(group)) for group in ordered]
    return Counter(map(max, zip(*padded, strict=True)))


def _rounded(squares: Counter[Fraction], figures: int) -> Counter[Fraction]:
    """Norms, rounded up to so many figures."""
    found: Counter[Fraction] = Counter()
    for square, count in squares.items():
        found[_root_above(square, figures)] += count
    return found


def _root_above(square: Fraction, figures: int) -> Fraction:
    """The least number of so many figures that is not below the root."""
    if not square:
        return square
    exact = rational_root(square, 2)
    if exact is None:
        scale = 10 ** (figures + _SPARE + len(str(square.denominator)))
        exact = Fraction(isqrt(int(square * scale**2)) + 1, scale)
    found = real(format_decimal(exact, figures, ROUND_CEILING)).fraction
    assert found is not None
    return found


def matrix_mechanism(
    matrix: object,
    sigma: RealLike,
    *,
    steps: RealLike | None = None,
    epochs: RealLike | None = None,
    separation: RealLike | None = None,
    participations: RealLike | None = None,
) -> Mechanism:
    """A matrix mechanism without sampling, by its exact sensitivity.

    Released is ``C x + z``, ``z`` of standard deviation ``sigma`` times the clipping norm; each
    step may depend on what was released before it. A record takes part in one step; with
    ``epochs`` in that many, one in the same place of each epoch; with ``separation`` in up to
    ``participations`` (default: as many as there is room for) that are so far apart or farther.

    Where products of columns are not negative the sensitivity is attained, and the answer
    ``gaussian(sigma, S)``; else ``gdp(S/sigma)``, a guarantee, from an upper bound
    (``docs/theory/correlated-noise.md``, Propositions 4 and 5).

    Raises:
        InvalidInput: an argument out of its domain.
        UnsupportedMechanism: the matrix is too large for what it asks.

    >>> print(matrix_mechanism([1, "1/2"], 2, steps=4, separation=2))
    gaussian(2, sqrt(2.5))
    """
    return matrix_run(
        matrix,
        steps=steps,
        epochs=epochs,
        separation=separation,
        participations=participations,
    ).mechanism(sigma)


def matrix_run(
    matrix: object,
    *,
    steps: RealLike | None = None,
    epochs: RealLike | None = None,
    separation: RealLike | None = None,
    participations: RealLike | None = None,
) -> CorrelatedRun:
    """:func:`matrix_mechanism` but for the noise."""
    found = strategy(matrix, steps)
    if epochs is not None and separation is not None:
        raise InvalidInput("epochs: give one of epochs and separation")
    if participations is not None and separation is None:
        raise InvalidInput("participations: goes with separation")
    moved: Sensitivity
    if epochs is not None:
        count = integer_in(epochs, "epochs", 1, MAX_COUNT)
        moved, often = fixed_epochs(found, count), f"once in each of {count:,} epochs, at one place"
    elif separation is not None:
        apart = integer_in(separation, "separation", 1, MAX_COUNT)
        most = -(-found.steps // apart)
        if participations is not None:
            most = min(most, integer_in(participations, "participations", 1, MAX_COUNT))
        moved = separated(found, apart, most)
        often = f"at most {most:,} times, {apart:,} steps apart or more"
    else:
        moved, often = once(found), "in one step"
    words = [f"Of {found.steps:,} steps with correlated noise every record takes part {often}."]
    if not moved.attained:
        words.append(
            "The sensitivity is an upper bound: products of columns differ in sign or order."
        )
    parts = ((square_root(rational(moved.square)), 1),) if moved.square else ()
    return CorrelatedRun(ONE, parts, found.steps, moved.attained, tuple(words))
