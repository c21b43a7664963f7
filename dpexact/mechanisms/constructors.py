"""The constructors users call: the names of the text grammar, numbers in any exact form."""

from __future__ import annotations

from typing import overload

from dpexact.conversion import RealLike
from dpexact.mechanisms import base, guarantees, noises, relating, reports
from dpexact.mechanisms.base import Mechanism
from dpexact.mechanisms.entries import rows_of_file
from dpexact.mechanisms.finite import COLUMNS, FinitePair, RandomizedResponse


def approx_dp(eps: RealLike, delta: RealLike) -> guarantees.ApproxDP:
    """Any ``(eps, delta)``-DP mechanism; ``eps >= 0``, ``0 <= delta <= 1``.

    It stands for the pair of Kairouz, Oh and Viswanath (2017), section V: mass ``delta`` reveals
    everything, the rest is randomised response.

    >>> print(approx_dp("1/10", "1/1000") ** 30)
    approx_dp(0.1, 0.001)^30
    """
    return guarantees.ApproxDP(eps, delta)


def pure_dp(eps: RealLike) -> guarantees.PureDP:
    """Any ``eps``-DP mechanism, ``eps >= 0``: randomised response.

    >>> print(pure_dp("log(3)"))
    pure_dp(log(3))
    """
    return guarantees.PureDP(eps)


def gdp(mu: RealLike) -> guarantees.GDP:
    """Any ``mu``-GDP mechanism, ``mu >= 0``: ``N(mu, 1)`` against ``N(0, 1)``."""
    return guarantees.GDP(mu)


@overload
def zcdp(rho: RealLike) -> guarantees.ZCDP: ...
@overload
def zcdp(xi: RealLike, rho: RealLike) -> guarantees.ZCDP: ...
def zcdp(*given: RealLike, **named: RealLike) -> guarantees.ZCDP:
    """Any ``(xi, rho)``-zCDP mechanism; one number is ``rho``, with ``xi = 0``.

    ``D_alpha <= xi + rho alpha`` at all orders above 1 (Bun and Steinke 2016, Definition 1.1);
    ``xi, rho >= 0``. Answers are upper bounds; with ``rho = 0`` it is ``pure_dp(xi)``, exactly.

    >>> from dpexact import epsilon
    >>> print(zcdp("1/10", "1/2"), epsilon(zcdp("1/10", "1/2"), "1e-6", digits=8).safe())
    zcdp(0.1, 0.5) 5.321535
    """
    names = ("xi", "rho") if len(given) + len(named) > 1 else ("rho",)
    if len(given) > len(names):
        raise TypeError(f"zcdp takes rho, or xi and rho: {len(given)} numbers were given")
    return guarantees.ZCDP(**dict(zip(names, given, strict=False)), **named)


def gaussian(sigma: RealLike, sensitivity: RealLike = 1) -> noises.Gaussian:
    """Noise ``N(0, sigma^2)``, ``sigma > 0``, on a query of L2 sensitivity ``sensitivity > 0``.

    >>> print(gaussian("1.3") * gaussian(2, sensitivity="1/2"))
    gaussian(1.3) * gaussian(2, 0.5)
    """
    return noises.Gaussian(sigma, sensitivity)


def laplace(scale: RealLike, sensitivity: RealLike = 1) -> noises.Laplace:
    """Noise of density ``exp(-|x|/scale)/(2 scale)`` on a query of L1 sensitivity."""
    return noises.Laplace(scale, sensitivity)


def discrete_laplace(scale: RealLike, sensitivity: int = 1) -> noises.DiscreteLaplace:
    """Integer noise of mass proportional to ``exp(-|x|/scale)``; integer ``sensitivity >= 1``."""
    return noises.DiscreteLaplace(scale, sensitivity)


def discrete_gaussian(sigma: RealLike, sensitivity: int = 1) -> noises.DiscreteGaussian:
    """Integer noise of mass proportional to ``exp(-x^2/(2 sigma^2))``; integer sensitivity."""
    return noises.DiscreteGaussian(sigma, sensitivity)


def staircase(eps: RealLike, gamma: RealLike, sensitivity: RealLike = 1) -> noises.Staircase:
    """The staircase mechanism of Geng and Viswanath (2014); ``eps > 0``, ``0 <= gamma <= 1``."""
    return noises.Staircase(eps, gamma, sensitivity)


def truncated_laplace(
    scale: RealLike, bound: RealLike, sensitivity: RealLike = 1
) -> noises.TruncatedLaplace:
    """Laplace noise conditioned on ``[-bound, bound]``, on a query of one number.

    Geng, Ding, Guo and Kumar (2020); ``scale > 0`` and ``bound > 0``.

    >>> print(truncated_laplace(1, 10).delta_at(1).shown(8))
    0.0000390067...
    """
    return noises.TruncatedLaplace(scale, bound, sensitivity)


def truncated_discrete_gaussian(
    sigma: RealLike, bound: int, sensitivity: int = 1
) -> noises.TruncatedDiscreteGaussian:
    """Integer noise in ``[-bound, bound]`` of mass proportional to ``exp(-x^2/(2 sigma^2))``.

    On a query of one integer; ``1 <= bound <= 10^4``.
    """
    return noises.TruncatedDiscreteGaussian(sigma, bound, sensitivity)


def partition_selection(eps: RealLike, delta: RealLike) -> noises.PartitionSelection:
    """Whether one partition is published, by the optimal ``(eps, delta)`` strategy.

    Desfontaines, Voss, Gipson and Mandayam (2022), by the number of users in the partition. A user
    of ``k`` partitions: ``partition_selection(...) ** k``.

    >>> print(partition_selection(1, "1e-5").delta_at(0).safe())
    0.4118633
    """
    return noises.PartitionSelection(eps, delta)


def threshold(mechanism: Mechanism, least: RealLike) -> noises.Threshold:
    """The noisy count of one partition, published where it is ``>= least``.

    ``mechanism`` is ``laplace(scale, s)`` or ``gaussian(sigma, s)``, a user adding at most ``s`` to
    the count; of a partition without users nothing is published. A user of ``k`` partitions:
    ``threshold(...) ** k``. Answers are upper bounds.

    >>> print(threshold(noises.Laplace(1), 12).delta_at(1).safe())
    0.000008350851
    """
    return noises.Threshold(mechanism, least)


def poisson(mechanism: Mechanism, q: RealLike) -> base.Poisson:
    """``mechanism`` on a sample that takes each record with probability ``q``, independently.

    Neighbours differ by adding or removing one record; ``0 <= q <= 1``.

    >>> print(poisson(gaussian("1.3"), "256/60000") ** 3515)
    poisson(gaussian(1.3), 8/1875)^3515
    """
    return base.Poisson(mechanism, q)


def fixed_size(mechanism: Mechanism, m: int, n: int) -> base.FixedSize:
    """``mechanism`` on a uniformly random ``m`` of ``n`` records; neighbours replace one record."""
    return base.FixedSize(mechanism, m, n)


def group(mechanism: Mechanism, k: int) -> relating.Group:
    """``mechanism`` for neighbours that differ by ``k`` records, all present or all absent.

    The privacy of a user with ``k`` records. ``1 <= k <= 10^4``.

    >>> from dpexact import epsilon
    >>> steps = poisson(gaussian(1), "1/100") ** 1000
    >>> print(epsilon(group(steps, 3), "1e-5", digits=12).safe())
    6.342933
    """
    return relating.Group(mechanism, k)


def replace(mechanism: Mechanism) -> relating.Replace:
    """``mechanism`` for neighbours of which one record is replaced by another.

    Sensitivities inside are for one record added or removed: ``replace(gaussian(1))`` is
    ``gaussian(1, 2)``.
    """
    return relating.Replace(mechanism)


def gaussian_mixture(
    sigma: RealLike, *sensitivities: tuple[RealLike, RealLike]
) -> relating.GaussianMixture:
    """Noise ``N(0, sigma^2)`` on a query of random sensitivity: ``(sensitivity, probability)``.

    >>> print(gaussian_mixture(2, (0, "1/2"), (1, "1/4"), (3, "1/4")))
    gaussian_mixture(2, 0: 0.5, 1: 0.25, 3: 0.25)
    """
    return relating.GaussianMixture(sigma, sensitivities)


def truncated_poisson(
    mechanism: Mechanism, q: RealLike, n: int, batch: int
) -> relating.TruncatedPoisson:
    """Gaussian noise on Poisson batches of ``n`` records, cut at random to ``batch`` records.

    Answers are upper bounds.
    """
    return relating.TruncatedPoisson(mechanism, q, n, batch)


def mix(*parts: tuple[RealLike, Mechanism]) -> relating.Mix:
    """One of several mechanisms, by a coin that everybody sees: ``(probability, mechanism)``.

    >>> print(mix(("1/3", gaussian(1) ** 2), ("2/3", pure_dp(1))))
    mix(1/3: gaussian(1)^2, 2/3: pure_dp(1))
    """
    return relating.Mix(parts)


def shuffle(mechanism: Mechanism, n: int) -> reports.Shuffle:
    """The reports of ``n >= 1`` users in random order, each ``mechanism = pure_dp(eps)`` by itself.

    Neighbours replace the input of one user. Answers are upper bounds (Feldman, McMillan, Talwar
    2021).

    >>> from dpexact import delta
    >>> print(delta(shuffle(pure_dp(1), 1000), "1/10", 12).safe())
    0.0003527657
    """
    return reports.Shuffle(mechanism, n)


def bounded_range(eps: RealLike) -> reports.BoundedRange:
    """Any ``eps``-bounded-range mechanism, ``eps >= 0``: the exponential mechanism and its kin.

    Repetitions of one ``eps`` alone are not adaptive, and their answers attained (Dong, Durfee,
    Rogers 2020); of anything else, as of :func:`adaptive` repetitions, answers are upper bounds.

    >>> from dpexact import delta
    >>> print(delta(bounded_range("1/2") ** 20, 2))
    0.0410683283479935...
    """
    return reports.BoundedRange(eps)


def permute_and_flip(eps: RealLike) -> reports.PermuteAndFlip:
    """Permute-and-flip (McKenna, Sheldon 2020), ``eps``-DP: report noisy max, exponential noise.

    The noise has scale ``2s/eps`` where scores have sensitivity ``s``, or ``s/eps`` where one
    record moves all of them the same way. However many candidates there are, the profile of one run
    is that of ``laplace(1/eps)``, which two attain; of several it is an upper bound.

    >>> from dpexact import delta
    >>> print(delta(permute_and_flip(1), "1/2", 12).safe(4))
    0.2212
    """
    return reports.PermuteAndFlip(eps)


def report_noisy_max(eps: RealLike) -> reports.ReportNoisyMax:
    """Report noisy max with Laplace noise of the scale of :func:`permute_and_flip`: upper bounds.

    With exponential noise it is :func:`permute_and_flip`, with Gumbel noise the exponential
    mechanism, :func:`bounded_range`.

    >>> from dpexact import delta
    >>> found = delta(report_noisy_max(1) ** 3, "1/2", 8)
    >>> print(found.relation, found.safe(4))
    <= 0.4494
    """
    return reports.ReportNoisyMax(eps)


def adaptive(mechanism: Mechanism) -> reports.Adaptive:
    """``mechanism``, whose steps may be chosen by the results of earlier ones.

    All but :func:`bounded_range` is accounted for that anyway.
    """
    return reports.Adaptive(mechanism)


def pair(*outcomes: tuple[RealLike, RealLike] | str) -> FinitePair:
    """The two laws ``P`` (with the record) and ``Q`` (without), outcome by outcome ``(p, q)``.

    Each must sum to 1, exactly. In place of the outcomes one text ``"@FILE"`` names a CSV file with
    the columns ``p`` and ``q``, rationals. ``direction`` is ``remove`` for ``(P, Q)``, ``add`` for
    ``(Q, P)``, ``both`` for the worse of the two.

    >>> m = pair(("1/2", "1/3"), ("1/2", "2/3"))
    >>> print(m, m.delta_at(0))
    pair((0.5, 1/3), (0.5, 2/3)) 0.166666666666...
    """
    match outcomes:
        case [str(text)] if text.startswith("@"):
            return FinitePair(rows_of_file(text[1:], "pair", COLUMNS))
    return FinitePair(outcomes)  # type: ignore[arg-type]  # the fields take numbers in any form


def randomized_response(eps: RealLike, k: int = 2) -> RandomizedResponse:
    """``k``-ary randomized response: the true answer with probability ``e^eps/(e^eps + k - 1)``.

    Neighbours differ in the answer; for ``k = 2`` the pair is that of ``pure_dp(eps)``.

    >>> print(randomized_response("log(3)", 4).delta_at(0))
    0.333333333333...
    """
    return RandomizedResponse(eps, k)
