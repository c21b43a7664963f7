"""The public questions: check the arguments, choose the method, answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final, overload

from dpexact import balls
from dpexact.accounting.profile import Profile
from dpexact.accounting.profiles import profile, repeated
from dpexact.accounting.reflection import OPPOSITE, reflected
from dpexact.accounting.standing import standing_of_points, stated
from dpexact.answers import delivered
from dpexact.arguments import (
    MAX_COUNT,
    Direction,
    Many,
    Method,
    digits_in,
    direction_in,
    integers_in,
    is_many,
    method_in,
    points_in,
    real_in,
)
from dpexact.conversion import RealLike
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import Real

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

#: Digits that decide a float64 bound.
FLOAT_DIGITS = 17
#: Digits of what is certain below an upper bound.
_FLOOR_DIGITS: Final = 8
_NOTHING: Final = Enclosure(Fraction(0), Fraction(1))


@overload
def delta(
    mechanism: Mechanism | str,
    epsilon: Many,
    digits: int = 15,
    direction: str = "both",
    *,
    method: str = "auto",
) -> list[Enclosure]: ...


@overload
def delta(
    mechanism: Mechanism | str,
    epsilon: RealLike,
    digits: int = 15,
    direction: str = "both",
    *,
    method: str = "auto",
) -> Enclosure: ...


def delta(
    mechanism: Mechanism | str,
    epsilon: RealLike | Many,
    digits: int = 15,
    direction: str = "both",
    *,
    method: str = "auto",
) -> Enclosure | list[Enclosure]:
    r"""Enclose the smallest ``delta`` for which ``mechanism`` is ``(epsilon, delta)``-DP.

    .. math:: \delta(\varepsilon) = \sup_S\, P(S) - e^{\varepsilon} Q(S)
              = E_P\big[(1 - e^{\varepsilon - Z})_+\big], \qquad Z = \log dP/dQ,

    for the dominating pair ``(P, Q)`` of the mechanism. With ``zcdp`` among its parts there is no
    such pair; then an upper bound is enclosed, and ``method`` begins with ``upper bound``.

    Args:
        mechanism: a mechanism or its text.
        epsilon: any exact real (a float means its exact binary value), negative ones too; or a
            list, a tuple or a flat numpy array of them, which share work. Then a list is answered,
            in which a point whose digits were not reached is as narrow as was certified.
        digits: certified significant digits asked for.
        direction: neighbours by ``remove``, ``add`` or ``both`` (the larger); matters for sampling.
        method: ``auto``, or ``contour`` or ``lattice`` to force that engine where it applies.

    Raises:
        InvalidInput: an argument out of its domain.
        UnsupportedMechanism: no certified method.
        PrecisionNotReached: the digits were not reached; carries the best enclosure.

    >>> print(delta("approx_dp(1/10, 1/1000)^30", "3/2", digits=20).shown(20))
    0.030450623182910283129...
    >>> print(delta("pure_dp(log(3))", "log(1/2)"))
    0.625
    >>> [found.safe(3) for found in delta("gaussian(1)", [0, 1, 2])]
    ['0.383', '0.127', '0.021']
    """
    m = mechanism_in(mechanism)
    points = points_in(epsilon, "epsilon")
    wanted = digits_in(digits)
    found, sharp = deltas_answer(m, points, wanted, direction_in(direction), method_in(method))
    if is_many(epsilon):
        return found
    return delivered(found[0], wanted if sharp else 0)


@overload
def epsilon(
    mechanism: Mechanism | str,
    delta: Many,
    digits: int = 15,
    direction: str = "both",
    *,
    method: str = "auto",
) -> list[Enclosure]: ...


@overload
def epsilon(
    mechanism: Mechanism | str,
    delta: RealLike,
    digits: int = 15,
    direction: str = "both",
    *,
    method: str = "auto",
) -> Enclosure: ...


def epsilon(
    mechanism: Mechanism | str,
    delta: RealLike | Many,
    digits: int = 15,
    direction: str = "both",
    *,
    method: str = "auto",
) -> Enclosure | list[Enclosure]:
    """Enclose the smallest ``epsilon >= 0`` for which ``mechanism`` is ``(epsilon, delta)``-DP.

    With ``zcdp`` among the parts it is an upper bound, as for :func:`delta`. Infinite
    (``Enclosure.exact(math.inf)``) when ``delta`` lies below the mass of infinite loss,
    or when the loss is unbounded and ``delta`` is not above that mass.

    Args:
        mechanism: a mechanism or its text.
        delta: any exact real in ``[0, 1]``, or several, as for :func:`delta`.
        digits: certified significant digits asked for.
        direction, method: as for :func:`delta`.

    Raises:
        InvalidInput, UnsupportedMechanism, PrecisionNotReached: as :func:`delta`.

    >>> print(epsilon("gaussian(1)", "1e-5", digits=20).shown(20))
    4.3771780956812246276...
    """
    m = mechanism_in(mechanism)
    targets = points_in(delta, "delta", ">= 0", "<= 1")
    wanted = digits_in(digits)
    found, sharp = epsilons_answer(m, targets, wanted, direction_in(direction), method_in(method))
    if is_many(delta):
        return found
    return delivered(found[0], wanted if sharp else 0)


def delta_answer(
    mechanism: Mechanism, epsilon: Real, digits: int, direction: Direction = "both"
) -> Enclosure:
    """:func:`delta` of checked arguments, as narrow as was certified."""
    return deltas_answer(mechanism, [epsilon], digits, direction)[0][0]


def epsilon_answer(
    mechanism: Mechanism, delta: Real, digits: int, direction: Direction = "both"
) -> Enclosure:
    """:func:`epsilon` of checked arguments, as narrow as was certified."""
    return epsilons_answer(mechanism, [delta], digits, direction)[0][0]


def deltas_answer(
    mechanism: Mechanism,
    epsilons: Sequence[Real],
    digits: int,
    direction: Direction = "both",
    method: Method = "auto",
) -> tuple[list[Enclosure], bool]:
    """:func:`delta_answer` at many points, and whether more work may give them more digits."""
    found, sharp = dict.fromkeys(range(len(epsilons)), _NOTHING), True
    behind = {i for i in found if balls.sign(epsilons[i], "epsilon") < 0}
    for places, way in ((found.keys() - behind, direction), (behind, OPPOSITE[direction])):
        if not places:
            continue
        order = sorted(places)
        points = [-epsilons[i] if i in behind else epsilons[i] for i in order]
        accounting, once = profile(mechanism, way, method), [*dict.fromkeys(points)]
        sharp = sharp and accounting.sharp
        answers = dict(zip(once, accounting.deltas(once, digits), strict=True))
        for i, point in zip(order, points, strict=True):
            found[i] = answer = answers[point]
            # of what is below all numbers that are written out nothing narrower can be said
            if not answer.digits and answer.upper > balls.TINY:
                from dpexact.accounting.coarse import coarse_delta

                found[i] = answer.meet(coarse_delta(mechanism, point, way))
            if i in behind:
                found[i] = reflected(found[i], epsilons[i], digits)
    ask = partial(deltas_answer, epsilons=epsilons, digits=_FLOOR_DIGITS, direction=direction)
    enclosed = list(found.values())
    said = _stated(enclosed, mechanism, direction, ask, lambda p: p.deltas(epsilons, _FLOOR_DIGITS))
    return said, sharp


def epsilons_answer(
    mechanism: Mechanism,
    deltas: Sequence[Real],
    digits: int,
    direction: Direction,
    method: Method = "auto",
) -> tuple[list[Enclosure], bool]:
    """:func:`epsilon_answer`, likewise."""
    accounting = profile(mechanism, direction, method)
    plain = [*dict.fromkeys(x for x in deltas if x.fraction != 1)]
    found = dict(zip(plain, accounting.epsilons(plain, digits), strict=True))
    for target, answer in found.items():
        if not answer.digits:
            from dpexact.accounting.coarse import coarse_epsilon

            found[target] = answer.meet(coarse_epsilon(mechanism, target, direction))
    none = Enclosure.exact(Fraction(0), accounting.method)
    enclosed = [found.get(x, none) for x in deltas]
    ask = partial(epsilons_answer, deltas=deltas, digits=_FLOOR_DIGITS, direction=direction)
    said = _stated(enclosed, mechanism, direction, ask, lambda p: p.epsilons(deltas, _FLOOR_DIGITS))
    return said, accounting.sharp


def _stated(
    found: Sequence[Enclosure],
    mechanism: Mechanism,
    direction: Direction,
    ask: Callable[[Mechanism], tuple[list[Enclosure], bool]],
    of: Callable[[Profile], list[Enclosure]],
) -> list[Enclosure]:
    """What is found with what it stands for, and what is certain below an upper bound."""
    said = standing_of_points(mechanism)
    answers = [stated(answer, said) for answer in found]
    if said.bound != "upper":
        return answers
    from dpexact.accounting.coarse import beneath, largest_output

    floors = []
    with suppress(UnsupportedMechanism):
        if (below := beneath(mechanism)) is not None:
            floors.append(ask(below)[0])
    if (largest := largest_output(mechanism, direction)) is not None:
        floors.append(of(largest))
    for row in floors:
        answers = [answer.above(floor) for answer, floor in zip(answers, row, strict=True)]
    return answers


def epsilon_curve(
    mechanism: Mechanism | str,
    steps: Iterable[int],
    delta: RealLike,
    digits: int = 15,
    direction: str = "both",
) -> list[Enclosure]:
    """Enclose epsilon at ``delta`` after each number of ``steps`` of ``mechanism``.

    For a training run: entry ``i`` is ``epsilon(mechanism ** steps[i], delta)``, and for sampled
    Gaussians the points share their work. A point whose digits were not reached is as narrow as was
    certified (see ``Enclosure.digits``).

    Args:
        mechanism: one step, or its text.
        steps: numbers of repetitions, in any order.
        delta, digits, direction: as for :func:`epsilon`.

    Raises:
        InvalidInput, UnsupportedMechanism: as :func:`epsilon`.

    >>> curve = epsilon_curve("poisson(gaussian(1), 0.01)", [100, 200], "1e-5", digits=6)
    >>> [e.shown(5) for e in curve]
    ['0.71803...', '0.91247...']
    """
    m = mechanism_in(mechanism)
    target = real_in(delta, "delta", ">= 0", "<= 1")
    wanted = digits_in(digits)
    way = direction_in(direction)
    repeats = integers_in(steps, "steps", 1, MAX_COUNT)
    ways, said = repeated(m, way), standing_of_points(m)
    shared: dict[int, Enclosure] = {}
    if ways is not None and target.fraction != 1:
        from dpexact.accounting.engines.contour.along import epsilons_along

        answers = epsilons_along(lambda _: ways, repeats, target, wanted)
        shared = {n: stated(one, said) for n, one in zip(repeats, answers, strict=True)}
    for n in set(repeats):
        if n not in shared or shared[n].digits < wanted:
            alone = epsilon_answer(m**n, target, wanted, way)
            shared[n] = shared[n].meet(alone) if n in shared else alone
    return [shared[n] for n in repeats]


def delta_bounds(
    mechanism: Mechanism | str, epsilons: ArrayLike, direction: str = "both"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Float64 arrays ``(lower, upper)`` with ``lower <= delta(epsilons) <= upper``, elementwise.

    Rounded outward from :func:`delta`, so the true value lies between even in the last bit; where
    the precision does not suffice, the bounds are as wide as what was certified. With ``zcdp``
    among the parts ``lower`` is 0.

    >>> lower, upper = delta_bounds("gaussian(1)", [0.0, 1.0, 2.0])
    >>> bool((lower <= upper).all())
    True
    """
    return _float_bounds(mechanism, epsilons, direction, deltas_answer, Fraction(1), "epsilon")


def epsilon_bounds(
    mechanism: Mechanism | str, deltas: ArrayLike, direction: str = "both"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Float64 arrays ``(lower, upper)`` with ``lower <= epsilon(deltas) <= upper``, elementwise.

    Rounded outward from :func:`epsilon`, as :func:`delta_bounds` is; ``0 <= deltas <= 1``. Where no
    finite epsilon suffices both are infinite.

    >>> lower, upper = epsilon_bounds("gaussian(1)", [1e-5, 0.01])
    >>> lower.round(6).tolist()
    [4.377178, 2.317789]
    """
    conditions = (">= 0", "<= 1")
    return _float_bounds(
        mechanism, deltas, direction, epsilons_answer, math.inf, "delta", *conditions
    )


def _float_bounds(
    mechanism: Mechanism | str,
    numbers: ArrayLike,
    direction: str,
    ask: Callable[[Mechanism, Sequence[Real], int, Direction], tuple[list[Enclosure], bool]],
    highest: Bound,
    name: str,
    *conditions: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np

    if np.ma.is_masked(numbers):
        raise InvalidInput(f"{name}s: masked entries are not accepted; use {name}s.compressed()")
    try:
        points = np.asarray(numbers)
    except ValueError as error:  # rows of different lengths
        raise InvalidInput(f"{name}s: not an array: {error}") from None
    if points.dtype.kind not in "fiuO":
        raise InvalidInput(f"{name}s: an array of {points.dtype} is not accepted; use numbers")
    m, way = mechanism_in(mechanism), direction_in(direction)
    pairs = np.empty((points.size, 2))
    asked = [real_in(point, name, *conditions) for point in points.ravel().tolist()]
    for row, found in zip(pairs, ask(m, asked, FLOAT_DIGITS, way)[0], strict=True):
        row[:] = found.of_truth().within(Fraction(0), highest).to_float_bounds()
    return pairs[:, 0].reshape(points.shape), pairs[:, 1].reshape(points.shape)
