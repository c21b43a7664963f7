"""The choice of method: from a mechanism to the privacy profile that accounts for it exactly."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from dpexact import balls, reals
from dpexact.accounting.contour import ContourProfile
from dpexact.accounting.contour import steps as contour
from dpexact.accounting.few_atoms import FewAtoms, sampled
from dpexact.accounting.profile import InfiniteLoss, Profile, Repeatable, WorseCurve, WorseDirection
from dpexact.accounting.sampled_once import sampled_once
from dpexact.accounting.unsampled import Unsampled
from dpexact.arguments import Direction
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism, Poisson
from dpexact.reals import Real

_ONE: Final = reals.rational(1)
_NOTHING: Final = reals.rational(0)

Steps: TypeAlias = dict[Mechanism, int]

Method: TypeAlias = Literal["auto", "contour"]
"""``auto`` takes the fastest method that is certified; ``contour`` is a second route."""

METHODS: Final[tuple[Method, ...]] = get_args(Method)


def profile(
    mechanism: Mechanism, direction: Direction = "both", method: Method = "auto"
) -> Profile:
    """The privacy profile of ``mechanism``'s dominating pair.

    Without sampling the two directions are the same. ``method="contour"`` forces the contour engine
    where it applies.

    Raises:
        UnsupportedMechanism: naming the part that no certified method accounts for.
    """
    plain, samples = _separate(mechanism.steps())
    if not samples and method == "auto":
        return Unsampled.of(plain).profile()
    if direction == "both" and samples:
        remove, add = (_sampled(plain, samples, way, method) for way in ("remove", "add"))
        return WorseDirection(remove, add)
    return _sampled(plain, samples, "remove" if direction == "both" else direction, method)


def curve(mechanism: Mechanism, direction: Direction = "both") -> Repeatable | None:
    """What shares work between repetitions of ``mechanism``; None where nothing does.

    Raises:
        UnsupportedMechanism: as :func:`profile`.
    """
    plain, samples = _separate(mechanism.steps())
    rest = Unsampled.of(plain)
    inner = {sample: Unsampled.of(sample.mechanism.steps()) for sample in samples}
    if not samples or not all(part.is_gaussian for part in inner.values()):
        return None
    mixtures = [(inner[sample].mu, sample.q, count) for sample, count in samples.items()]
    if direction == "both":
        return WorseCurve(_contour(rest, mixtures, "remove"), _contour(rest, mixtures, "add"))
    return _contour(rest, mixtures, direction)


def _separate(steps: Steps) -> tuple[Steps, dict[Poisson, int]]:
    """The steps without and with sampling; nested rates multiply.

    Rates 0 and 1, and samples from which nothing is lost, disappear.
    """
    plain: Steps = {}
    samples: dict[Poisson, int] = {}
    for step, count in steps.items():
        rate, inner = _ONE, step
        while isinstance(inner, Poisson):
            rate, inner = reals.multiply(rate, inner.q), inner.mechanism
        if balls.sign(rate, "q") == 0:
            continue
        if inner is step:
            plain[step] = plain.get(step, 0) + count
        elif rate.fraction == 1:
            plain_inside, samples_inside = _separate(inner.steps())
            for single, times in plain_inside.items():
                plain[single] = plain.get(single, 0) + count * times
            for sample, times in samples_inside.items():
                samples[sample] = samples.get(sample, 0) + count * times
        elif not Unsampled.of(inner.steps()).is_empty:
            sample = Poisson(inner, rate)
            samples[sample] = samples.get(sample, 0) + count
    return plain, samples


def _sampled(
    plain: Steps, samples: dict[Poisson, int], direction: Direction, method: Method
) -> Profile:
    rest = Unsampled.of(plain)
    inner = {sample: Unsampled.of(sample.mechanism.steps()) for sample in samples}
    if method == "auto" and rest.is_empty and sum(samples.values()) == 1:
        (once,) = samples
        return sampled_once(inner[once].profile(), once.q, direction)
    if all(part.is_gaussian for part in inner.values()):
        mixtures = [(inner[sample].mu, sample.q, count) for sample, count in samples.items()]
        return _contour(rest, mixtures, direction)
    if method == "contour":
        raise UnsupportedMechanism("the contour engine accounts for no sampling but of Gaussians")
    outcomes = [(sampled(inner[s].outcomes(), s.q, direction), k) for s, k in samples.items()]
    outcomes += [(Unsampled.of({step: 1}).outcomes(), count) for step, count in plain.items()]
    return FewAtoms(outcomes, InfiniteLoss())


def _contour(
    rest: Unsampled, mixtures: list[tuple[Real | None, Real, int]], direction: Direction
) -> ContourProfile:
    """Sampled Gaussians, with Gaussians and randomised responses that see all records."""
    if rest.laplace or rest.others:
        raise UnsupportedMechanism(
            "no certified accounting for sampled Gaussians beside Laplace or lattice noise"
        )
    if rest.mu is None and not mixtures:
        raise UnsupportedMechanism("the contour engine needs a Gaussian")
    way = contour.remove if direction == "remove" else contour.add
    steps: list[tuple[contour.Step, int]] = [
        (way(reals.divide(_ONE, mu), q), count) for mu, q, count in mixtures if mu is not None
    ]
    if rest.mu is not None:
        steps.append((contour.Gaussian(rest.mu), 1))
    steps += [(contour.Atoms(eps, _NOTHING), count) for eps, count in rest.responses.items()]
    steps += [(contour.Atoms(_NOTHING, mass), count) for mass, count in rest.masses]
    return ContourProfile(tuple(steps), InfiniteLoss(tuple(rest.masses)))
