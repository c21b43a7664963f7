"""The outcomes of a composition of finite laws, those of equal loss taken together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from dpexact import reals
from dpexact.accounting.pairs.lattice import OnLattice, commensurate
from dpexact.accounting.pairs.pair import Atom, Pair
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: Most combinations of outcomes of a composition that are written out.
MAX_COMBINATIONS: Final = 2000

_Type = tuple[int, Real, Real]


def composed(pairs: Sequence[tuple[Pair, int]]) -> list[Atom]:
    """Every loss of the composition that lies on a common lattice once, with its masses.

    Without a common lattice, losses that happen to be equal stay apart, which is as true.

    Raises:
        UnsupportedMechanism: for more than :data:`MAX_COMBINATIONS` combinations of outcomes.
    """
    if not pairs:
        return [Atom(reals.rational(1), reals.rational(1))]
    sizes = (math.comb(count + len(pair.outcomes()) - 1, count) for pair, count in pairs)
    if math.prod(sizes) > MAX_COMBINATIONS:
        raise UnsupportedMechanism(
            f"no certified accounting for more than {MAX_COMBINATIONS} combinations of outcomes"
        )
    on_lattice = [(pair, count) for pair, count in pairs if isinstance(pair, OnLattice)]
    common = commensurate(on_lattice, math.inf) if len(on_lattice) == len(pairs) else None
    strides = [1] * len(pairs) if common is None else [s.stride for s in common[1]]
    found: dict[int | tuple[int, ...], tuple[Real, Real]] = {}
    for types in product(*(_types(pair.outcomes(), count) for pair, count in pairs)):
        places = tuple(stride * t[0] for stride, t in zip(strides, types, strict=True))
        key = places if common is None else sum(places)
        p, q = _product([t[1] for t in types]), _product([t[2] for t in types])
        if key in found:
            p, q = found[key][0] + p, found[key][1] + q
        found[key] = p, q
    return [Atom(p, q) for p, q in found.values()]


def _types(outcomes: Sequence[Atom], count: int) -> Iterator[_Type]:
    """``(index, P, Q)`` of every way in which ``count`` draws may fall on the outcomes."""
    for often in _partitions(count, len(outcomes)):
        ways = math.factorial(count) // math.prod(math.factorial(n) for n in often)
        weight = reals.rational(ways)
        p, q = (
            _product([weight, *(_power(x, n) for x, n in zip(masses, often, strict=True) if n)])
            for masses in ([a.p for a in outcomes], [a.q for a in outcomes])
        )
        yield sum(i * n for i, n in enumerate(often)), p, q


def _partitions(count: int, places: int) -> Iterator[tuple[int, ...]]:
    if places == 1:
        yield (count,)
        return
    for n in range(count + 1):
        for rest in _partitions(count - n, places - 1):
            yield (n, *rest)


def _power(x: Real, n: int) -> Real:
    return x if n == 1 else x**n


def _product(factors: list[Real]) -> Real:
    result = factors[0]
    for factor in factors[1:]:
        result *= factor
    return result
