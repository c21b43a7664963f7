"""Events of dp-accounting as the mechanisms that they describe, under each neighbouring relation.

Nothing is imported from that package: an event is read by the name of its class and its fields, so
that serialised ones, and those of releases that are not installed, are read alike. Floats mean
their exact binary values. What is proved of each event is in ``docs/theory/events.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from dpexact.arguments import MAX_COUNT, integer_in, is_many, real_in, word_in
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import (
    Composition,
    Mechanism,
    Repetition,
    adaptive,
    allocation,
    approx_dp,
    bounded_range,
    discrete_gaussian,
    discrete_laplace,
    fixed_size,
    gaussian,
    gaussian_mixture,
    laplace,
    pair,
    permute_and_flip,
    poisson,
    pure_dp,
    repeat_and_select,
    replace,
    truncated_poisson,
    zcdp,
)
from dpexact.reals import ONE, ZERO, Real, exponential, rational
from dpexact.tokens import quoted, shorten
from dpexact.training.fields import all_read, field, listed, name_of, opened

Neighbours: TypeAlias = Literal["add-remove", "zero-out", "replace"]

NEIGHBOURS: Final[tuple[Neighbours, ...]] = get_args(Neighbours)

#: Deepest nesting of events that is read.
MAX_DEPTH: Final = 100
#: Sums of probabilities that are floats differ from 1 by no more.
_ROUNDING: Final = Fraction(1, 10**9)

_NOTHING: Final = pure_dp(0)
_EVERYTHING: Final = approx_dp(0, 1)


class UnsupportedEvent(UnsupportedMechanism):
    """An event that the grammar cannot express; ``event`` is the innermost one that it cannot."""

    def __init__(self, event: object, reason: str) -> None:
        super().__init__(f"{name_of(event)}: {reason}")
        self.event = event
        self.reason = reason

    def __reduce__(self) -> tuple[type[UnsupportedEvent], tuple[object, str]]:
        return type(self), (self.event, self.reason)


def from_dp_event(event: object, *, neighbours: Neighbours = "add-remove") -> Mechanism:
    """The mechanism that a ``DpEvent`` of dp-accounting describes, or its serialised form.

    That is a mapping, or named tuple, with ``class_name`` and the fields. Neighbours differ by one
    record: it is there or not (``add-remove``), or is a record of zeros (``zero-out``), or has
    another value, so that a sum of vectors of norm 1 moves by 2 (``replace``).

    Raises:
        InvalidInput: it is no event, or a field is not known or out of its domain.
        UnsupportedMechanism: the event, which is named, cannot be expressed.

    >>> from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
    >>> step = PoissonSampledDpEvent(0.25, GaussianDpEvent(1.5))
    >>> print(from_dp_event(SelfComposedDpEvent(step, 100)))
    poisson(gaussian(1.5), 0.25)^100
    """
    return _Reader(word_in(neighbours, "neighbours", NEIGHBOURS)).read(event)


def composed(parts: Sequence[Mechanism]) -> Mechanism:
    """The composition of ``parts`` without those that do nothing."""
    working = [part for part in parts if part != _NOTHING]
    if len(working) < 2:
        return working[0] if working else _NOTHING
    return Composition(tuple(working))


class _Reader:
    """Reads events under one neighbouring relation; ``sampled`` inside of a Poisson sample."""

    def __init__(self, neighbours: Neighbours, sampled: bool = False, depth: int = 0) -> None:
        self._neighbours = neighbours
        # what is sampled is replaced as a whole
        self._moved = 2 if neighbours == "replace" and not sampled else 1
        self._sampled = sampled
        self._depth = depth

    def read(self, event: object) -> Mechanism:
        event = opened(event)
        name = name_of(event)
        if not isinstance(name, str) or not name.endswith("DpEvent"):
            raise InvalidInput(f"event: {quoted(event)} is not a DpEvent")
        if self._depth > MAX_DEPTH:
            raise InvalidInput(f"event: nested more than {MAX_DEPTH} deep")
        reader = getattr(self, f"_{name}", None)
        if reader is None:
            raise UnsupportedEvent(event, "it has no form in the grammar")
        found: Mechanism = reader(event)
        all_read(event)
        return found

    def _inner(self, event: object, sampled: bool = False) -> Mechanism:
        inside = _Reader(self._neighbours, sampled or self._sampled, self._depth + 1)
        return inside.read(field(event, "event"))

    def _need(self, event: object, *accepted: Neighbours) -> None:
        if self._neighbours not in accepted:
            raise UnsupportedEvent(event, f"it needs neighbours by {' or '.join(accepted)}")

    def _whole(self, event: object) -> None:
        """A guarantee says nothing of a sample with and without a record that is replaced."""
        if self._sampled and self._neighbours != "add-remove":
            raise UnsupportedEvent(
                event,
                f"on a sample, with neighbours by {self._neighbours}, only noise on sums has a "
                "form: it says nothing of the sample without the record",
            )

    # --- one method an event, named as the event: nothing, everything, compositions ---------------

    def _NoOpDpEvent(self, _: object) -> Mechanism:  # noqa: N802
        return _NOTHING

    def _NonPrivateDpEvent(self, _: object) -> Mechanism:  # noqa: N802
        return _EVERYTHING

    def _SelfComposedDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        count = integer_in(field(event, "count"), "count", 0, MAX_COUNT)
        inner = self._inner(event)  # also of none: what is refused is refused
        if not count or inner == _NOTHING:
            return _NOTHING
        if isinstance(inner, Repetition):
            return inner.mechanism ** integer_in(inner.times * count, "count", 1, MAX_COUNT)
        return inner**count

    def _ComposedDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        inside = _Reader(self._neighbours, self._sampled, self._depth + 1)
        return composed([inside.read(part) for part in listed(event, "events")])

    # --- noise on sums of vectors of norm at most 1, or of so many units ---------------

    def _GaussianDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        return self._noise(gaussian, event)

    def _LaplaceDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        return self._noise(laplace, event)

    def _noise(self, kind: Callable[[Real, int], Mechanism], event: object) -> Mechanism:
        noise = real_in(field(event, "noise_multiplier"), "noise_multiplier", ">= 0")
        return _EVERYTHING if noise == ZERO else kind(noise, self._moved)

    def _DiscreteLaplaceDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        rate = real_in(field(event, "noise_parameter"), "noise_parameter", ">= 0")
        reach = integer_in(field(event, "sensitivity"), "sensitivity", 0)
        if not reach:
            return _NOTHING
        if rate == ZERO:  # no distribution, and taken for no noise
            return _EVERYTHING
        return discrete_laplace(ONE / rate, self._moved * reach)

    def _SingleEpochTreeAggregationDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._need(event, "zero-out")
        if self._sampled:
            raise UnsupportedEvent(event, "it releases several sums, so that no sample is meant")
        # a record is in one node of each level of the one tree that it is in
        counts = field(event, "step_counts")
        trees = counts if isinstance(counts, list | tuple) else [counts]
        levels = max((integer_in(n, "step_counts", 0).bit_length() for n in trees), default=0)
        noise = self._noise(gaussian, event)
        return noise**levels if levels else _NOTHING

    # --- a query whose sensitivity, under these very neighbours, is given --------------

    def _DiscreteGaussianDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._whole(event)
        sigma = real_in(field(event, "sigma"), "sigma", ">= 0")
        reach = real_in(field(event, "sensitivity", 1), "sensitivity", ">= 0")
        dimension = field(event, "dimension", 0)  # 0: it is not said
        line = integer_in(dimension, "dimension", 0) == 1
        length = Fraction(reach.fraction) if reach.fraction is not None else None
        if length is None:
            raise UnsupportedEvent(event, "its sensitivity is not rational")
        if length < 1:  # no two vectors of integers are nearer
            return _NOTHING
        if sigma == ZERO:
            return _EVERYTHING
        if line or length * length < 2:
            return discrete_gaussian(sigma, math.floor(length))
        return zcdp(reach * reach / (2 * sigma * sigma))

    def _RandomizedResponseDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._need(event, "zero-out", "replace")
        self._whole(event)
        p = real_in(field(event, "noise_parameter"), "noise_parameter", ">= 0", "<= 1").fraction
        buckets = integer_in(field(event, "num_buckets"), "num_buckets", 1)
        if p is None:
            raise UnsupportedEvent(event, "its noise parameter is not rational")
        if buckets == 1 or p == 1:
            return _NOTHING
        other, uniform = p / buckets, Fraction(1, buckets)
        own = 1 - p + other
        if self._neighbours == "zero-out":  # a record of zeros is answered for by any bucket
            return pair((own, uniform), (1 - own, 1 - uniform))
        if p == 0:
            return _EVERYTHING
        if buckets == 2:
            return pure_dp(f"log({own / other})")
        rest = 1 - own - other
        return pair((own, other), (other, own), (rest, rest))

    def _MixtureOfGaussiansDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._need(event, "add-remove", "zero-out")
        self._whole(event)
        masses = _masses(event)
        still = masses.pop(ZERO, Fraction(0))
        sigma = real_in(field(event, "standard_deviation"), "standard_deviation", ">= 0")
        if not masses:
            return _NOTHING
        if sigma == ZERO:
            return poisson(_EVERYTHING, 1 - still) if still else _EVERYTHING
        if len(masses) > 1:
            law = [*((ZERO, still) for _ in range(still > 0)), *masses.items()]
            return gaussian_mixture(sigma, *law)
        [(moved, q)] = masses.items()
        return gaussian(sigma, moved) if q == 1 else poisson(gaussian(sigma, moved), q)

    def _TruncatedSubsampledGaussianDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._whole(event)
        n = integer_in(field(event, "dataset_size"), "dataset_size", 0)
        name = "sampling_probability"
        q = real_in(field(event, name), name, ">= 0", "<= 1")
        batch = integer_in(field(event, "truncated_batch_size"), "truncated_batch_size", 0)
        inside = _Reader(self._neighbours, True, self._depth + 1)  # what is cut is replaced whole
        noise = inside._noise(gaussian, event)
        if not (n and batch) or q == ZERO:
            return _NOTHING
        if noise == _EVERYTHING:
            return noise
        found = truncated_poisson(noise, q, n, batch)
        return replace(found) if self._neighbours == "replace" else found

    # --- guarantees -------------------------------------------------------------------------------

    def _EpsilonDeltaDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._whole(event)
        epsilon = real_in(field(event, "epsilon"), "epsilon", ">= 0")
        delta = real_in(field(event, "delta"), "delta", ">= 0", "<= 1")
        return pure_dp(epsilon) if delta == ZERO else approx_dp(epsilon, delta)

    def _ExponentialMechanismDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._whole(event)
        epsilon = real_in(field(event, "epsilon"), "epsilon", ">= 0")
        return _NOTHING if epsilon == ZERO else adaptive(bounded_range(epsilon))

    def _PermuteAndFlipDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._whole(event)
        epsilon = real_in(field(event, "epsilon"), "epsilon", ">= 0")
        return _NOTHING if epsilon == ZERO else permute_and_flip(epsilon)

    def _ZCDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._whole(event)
        xi = real_in(field(event, "xi", 0), "xi", ">= 0")
        rho = real_in(field(event, "rho"), "rho", ">= 0")
        return _NOTHING if xi == rho == ZERO else zcdp(xi, rho)

    def _RepeatAndSelectDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        inner, given = self._inner(event), field(event, "shape")
        self._whole(event)
        mean = real_in(field(event, "mean"), "mean", "> 0")
        if inner == _NOTHING:
            return _NOTHING
        shape = (
            None if not is_many(given) and given == math.inf else real_in(given, "shape", "> -1")
        )
        if inner == _EVERYTHING:
            return approx_dp(0, 1 - exponential(-mean)) if shape is None else inner
        return repeat_and_select(inner, mean, shape)

    # --- samples ----------------------------------------------------------------------------------

    def _PoissonSampledDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        name = "sampling_probability"
        q = real_in(field(event, name), name, ">= 0", "<= 1")
        if q == ONE:
            return self._inner(event)
        inner = self._inner(event, sampled=True)
        if self._neighbours != "replace" or self._sampled:
            return _sample(inner, q, lambda inner: poisson(inner, q))
        if inner == _EVERYTHING:
            return approx_dp(0, q)
        return _sample(inner, q, lambda inner: replace(poisson(inner, q)))

    def _RandomAllocationDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        steps = integer_in(field(event, "num_steps"), "num_steps", 1)
        chosen = integer_in(field(event, "num_selected"), "num_selected", 0, steps)
        self._need(event, "add-remove", "zero-out")
        inner = self._inner(event, sampled=True)
        if not chosen or inner == _NOTHING:
            return _NOTHING
        if chosen == steps or inner == _EVERYTHING:
            return inner**steps
        return allocation(inner, steps, chosen)

    def _SampledWithoutReplacementDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        self._need(event, "replace")
        n = integer_in(field(event, "source_dataset_size"), "source_dataset_size", 1)
        m = integer_in(field(event, "sample_size"), "sample_size", 0, n)
        rate = rational(Fraction(m, n))
        return _sample(self._inner(event), rate, lambda inner: fixed_size(inner, m, n))

    # --- refused, unless nothing runs in them ---------------------------------------------------

    def _UnsupportedDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        raise UnsupportedEvent(event, "it says itself that nothing is known of it")

    def _SampledWithReplacementDpEvent(self, event: object) -> Mechanism:  # noqa: N802
        integer_in(field(event, "source_dataset_size"), "source_dataset_size", 1)
        integer_in(field(event, "sample_size"), "sample_size", 0)
        if self._inner(event) != _NOTHING:
            reason = "a record may be drawn several times, and no pair for that has a form in the "
            raise UnsupportedEvent(event, f"{reason}grammar")
        return _NOTHING


def _sample(inner: Mechanism, rate: Real, made: Callable[[Mechanism], Mechanism]) -> Mechanism:
    """What runs on a sample, if something does and the sample is neither empty nor everything."""
    if rate == ZERO or inner == _NOTHING:
        return _NOTHING
    return inner if rate == ONE else made(inner)


def _masses(event: object) -> dict[Real, Fraction]:
    """The probability of each sensitivity, by the sum of them: floats hardly sum to 1."""
    sensitivities = listed(event, "sensitivities")
    probabilities = listed(event, "sampling_probs")
    if len(sensitivities) != len(probabilities):
        raise InvalidInput("sampling_probs: there must be one for each of the sensitivities")
    masses: dict[Real, Fraction] = {}
    for reach, mass in zip(sensitivities, probabilities, strict=True):
        moved = real_in(reach, "sensitivities", ">= 0")
        exact = real_in(mass, "sampling_probs", ">= 0", "<= 1").fraction
        if exact is None:
            raise InvalidInput(f"sampling_probs: {shorten(str(mass))} is not rational")
        if exact:
            masses[moved] = masses.get(moved, Fraction(0)) + exact
    total = sum(masses.values(), Fraction(0))
    if abs(total - 1) > _ROUNDING:
        raise InvalidInput(f"sampling_probs: their sum is {float(total):.6g}; must be 1")
    return {moved: mass / total for moved, mass in masses.items()}
