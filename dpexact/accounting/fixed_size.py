r"""Fixed-size sampling of Gaussian mechanisms, replacement neighbours: two certified bounds.

*Above.* A mechanism that is ``f``-DP, ``f = G_mu``, on a uniformly random ``m`` of ``n`` records is
``C_q(f)``-DP with ``q = m/n``, and compositions are ``C_q(f) (x) ... (x) C_q(f)``-DP (Dong, Roth,
Su 2022, Theorems 9 and 4).

*Below.* Let all records be equal but one. The sample holds the odd record with probability ``q``,
so the output is ``(1-q) N(0) + q N(mu)`` on one dataset and ``N(0)`` on its neighbour, exactly as
under Poisson sampling; both directions occur because replacement is symmetric. No certified
``epsilon`` can be below that of such a pair.

For one step both bounds agree: the profile of ``C_q(f)`` at ``eps >= 0`` is that of the pair.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from dpexact import reals
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.finite import symmetrised
from dpexact.accounting.profile import Between, Profile
from dpexact.accounting.reflection import WorseDirection
from dpexact.accounting.routes import routed
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import FixedSize, Mechanism, Poisson
from dpexact.reals import Real

#: Digits of the two ends: they differ by more.
_DIGITS: Final = (6, 5)


def on_fixed_size(steps: dict[Mechanism, int]) -> Profile:
    """Gaussians on fixed-size samples, with Gaussians and responses that see all records.

    The enclosures hold the worst case over all datasets; they are as wide as the gap between the
    two bounds, whatever the digits asked for.
    """
    from dpexact.accounting.symmetric_hull import AboveHull

    plain: list[tuple[Mechanism, int]] = []
    samples: list[tuple[Mechanism, int]] = []
    hulls: list[tuple[Real, Real, int]] = []
    for step, count in steps.items():
        if not isinstance(step, FixedSize):
            plain.append((step, count))
            continue
        inner = Composition.of(step.mechanism.steps().items())
        if not inner.is_gaussian:
            raise UnsupportedMechanism(f"no certified accounting for {step}")
        if inner.mu is None:
            continue
        if step.m == step.n:
            plain += [(part, count * times) for part, times in step.mechanism.steps().items()]
            continue
        rate = reals.rational(Fraction(step.m, step.n))
        samples.append((Poisson(step.mechanism, rate), count))
        hulls.append((inner.mu, rate, count))
    whole = Composition.of([*plain, *samples])
    attained, rest = routed(whole), replace(whole, samples=[])
    if not samples or (rest.is_empty and sum(count for _, count in samples) == 1):
        return attained
    above: Profile = AboveHull(hulls, rest)
    if rest.is_directed:
        above = WorseDirection(above, AboveHull(hulls, rest.facing("add")))
    method = "bounds: equal records but one below, C_p composition above"
    return Between(attained, above, method, _DIGITS)


def symmetric_samples(mechanism: Mechanism) -> Profile:
    """The profile of ``C_q(f_1) (x) ... (x) C_q(f_k)``, which bounds that of a product of samples.

    A sample of a step with the symmetric trade-off function ``f`` is ``C_q(f)``-DP: with
    ``q = m/n`` and replacement neighbours (Dong, Roth, Su 2022, Theorem 9), and on a Poisson sample
    with add/remove neighbours, whose two directions are ``f_q`` and its inverse, both at least
    ``C_q(f)`` (Bu, Dong, Long, Su 2020).

    Raises:
        UnsupportedMechanism: no part is a sample, or not of Gaussians or finite laws.
    """
    from dpexact.accounting.engines.few_atoms import FewAtoms

    mechanism.relation()
    whole = Composition.of(
        (Poisson(step.mechanism, reals.rational(Fraction(step.m, step.n))), count)
        if isinstance(step, FixedSize)
        else (step, count)
        for step, count in mechanism.steps().items()
    )
    if not whole.samples:
        raise UnsupportedMechanism("no part is a sample")
    if not whole.is_symmetric:
        raise UnsupportedMechanism("a pair is not symmetric")
    rest = replace(whole, samples=[])
    if all(sample.inner.is_gaussian for sample, _ in whole.samples):
        noises = [(sample.inner.mu, sample.q, count) for sample, count in whole.samples]
        from dpexact.accounting.symmetric_hull import symmetric_hull

        return symmetric_hull([(mu, q, k) for mu, q, k in noises if mu is not None], rest)
    outcomes = [(symmetrised(x.inner.outcomes(), x.q), count) for x, count in whole.samples]
    return FewAtoms([*outcomes, *rest.finite_laws()], rest.beside)
