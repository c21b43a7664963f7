"""From masses and tables to integers: every error of a table and every rounding has its side."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb, fmpq
from mpmath import mp, mpf

import dpexact
from dpexact import balls
from dpexact.accounting.engines.lattice.grid import Grid, ceil, floor, split_atom
from dpexact.accounting.engines.lattice.pieces import (
    Label,
    Pieces,
    Point,
    Table,
    _connected,
    lower_law,
    tabulate,
    upper_law,
)

GRID = Grid(Fraction(1, 16), 12, 0)
FIRST, LAST = -240, 240
UNIT = 1 << GRID.bits
GROWTH = mp.expm1(mpf(1) / 16)


def exact(value):
    return arb(fmpq(value.numerator, value.denominator))


def survivals(x):
    """Any falling functions do: the order of the laws is a matter of these numbers alone."""
    place = mpf(x.numerator) / x.denominator
    p = 1 / (1 + mp.exp(place / 8))
    q = 1 / (1 + mp.exp(place / 8 + 1))
    profile = mp.log1p(mp.exp(-place / 8)) / 12
    return p, q, profile


def ball_around(value, error):
    """A ball of almost one unit of the table that holds the value at one of its ends."""
    unit = arb(2) ** -GRID.fine
    with mp.workdps(40):
        middle = arb(mp.nstr(value, 38))
    return middle + error * arb("0.99") * unit + arb(0, 0.995) * unit


def table(signs):
    """The functions known as badly as a table may know them."""

    def evaluate(x):
        k = int((x / exact(GRID.spacing)).unique_fmpz())
        values = survivals(Fraction(k) * GRID.spacing)
        return tuple(ball_around(v, s) for v, s in zip(values, signs(k), strict=True))

    with balls.precision(160), mp.workdps(40):
        return tabulate(evaluate, GRID, FIRST, LAST, arb(1))


def alternating(k):
    sign = 1 if k % 2 else -1
    return sign, sign, sign


def truths():
    with mp.workdps(40):
        return [survivals(Fraction(k) * GRID.spacing) for k in range(FIRST, LAST + 1)]


@pytest.mark.parametrize("parity", [0, 1])
def test_dominating_masses_from_a_poor_table(parity):
    """Each mass is at least that of the chords through the true profile, though all errors of the
    table conspire against it."""
    found, infinite = _connected(table(lambda k: alternating(k + parity)), GRID)
    with mp.workdps(40):
        profile = [d for _, _, d in truths()]
        drops = [a - b for a, b in pairwise(profile)]
        masses = [1 - profile[0] - drops[0] / GROWTH]
        for left, right in pairwise(drops):
            masses.append(((GROWTH + 1) * left - right) / GROWTH)
        masses.append((GROWTH + 1) * drops[-1] / GROWTH)
        assert all(int(f) >= m * UNIT for f, m in zip(found, masses, strict=True))
        assert all(int(f) <= m * UNIT + 2 for f, m in zip(found, masses, strict=True))
        assert int(infinite) >= profile[-1] * UNIT


@pytest.mark.parametrize("parity", [0, 1])
def test_dominated_masses_from_a_poor_table(parity):
    known = table(lambda k: alternating(k + parity))
    law = lower_law(Pieces([], [], arb(0), (arb(0), arb(0)), known), GRID)
    with mp.workdps(40):
        p, q, _ = zip(*truths(), strict=True)
        for masses, tails, side in ((law.p, p, 1), (law.q, q, -1)):
            cells = [a - b for a, b in pairwise(tails)]
            found = [int(c) for c in masses.coeffs()]
            found += [0] * (len(cells) - len(found))
            assert all(side * f <= side * c * UNIT for f, c in zip(found, cells, strict=True))


TRUTHS = truths()


@pytest.mark.parametrize("parity", [0, 1])
def test_the_ends_of_poor_tables(parity):
    """What lies at the last point and beyond it, of tables that end anywhere."""
    known = table(lambda k: alternating(k + parity))
    for last in range(2, LAST - FIRST + 1):
        part = Table(FIRST, *(x[: last + 1] for x in (known.p, known.q, known.profile)), arb(1))
        law = lower_law(Pieces([], [], arb(0), (arb(0), arb(0)), part), GRID)
        (*_, mass), infinite = _connected(part, GRID)
        p, q, profile = TRUTHS[last]
        assert int(law.over_p) <= p * UNIT
        assert int(law.over_q) >= q * UNIT
        assert int(infinite) >= profile * UNIT
        drop = TRUTHS[last - 1][2] - profile
        assert int(mass) >= (GROWTH + 1) * drop / GROWTH * UNIT


@pytest.mark.parametrize("parity", [0, 1])
def test_the_first_mass_of_poor_tables(parity):
    """What lies at the first point and before it, of tables that begin anywhere."""
    known = table(lambda k: alternating(k + parity))
    for start in range(LAST - FIRST - 2):
        part = Table(0, *(x[start:] for x in (known.p, known.q, known.profile)), arb(1))
        (first, *_), _ = _connected(part, GRID)
        (_, _, here), (_, _, there) = TRUTHS[start : start + 2]
        assert int(first) >= (1 - here - (here - there) / GROWTH) * UNIT


def test_the_first_mass_of_a_flat_table():
    """No drop hides that the first value is known badly."""
    with balls.precision(160), mp.workdps(40):
        value = 1 - mpf(100 + mpf(2) ** -12) / UNIT
        flat = tabulate(lambda x: (ball_around(value, 1),) * 3, GRID, 0, 4, arb(1))
        (first, *_), _ = _connected(flat, GRID)
    assert int(first) >= (1 - value) * UNIT


def test_atoms_split_and_rounded():
    """The shares that keep mass and ``int y``, each rounded up; labels down under P, up under Q."""
    places = [Fraction(k, 77) for k in range(1, 60) if k % 11]
    p = [Fraction(1, 100 + k) for k in range(len(places))]
    with balls.precision(120), mp.workdps(40):
        for gap, mass in zip(places, p, strict=True):
            point = Point(exact(gap), exact(mass))
            label = Label(float(gap), exact(mass), exact(mass / 3))
            pieces = Pieces([point], [label], exact(mass), (exact(mass), exact(mass / 3)))
            upper, lower = upper_law(pieces, GRID), lower_law(pieces, GRID)
            below = math.floor(gap / GRID.spacing)
            high = mpf(below + 1) / 16 - mpf(gap.numerator) / gap.denominator
            share = mp.expm1(high) / GROWTH
            units = mpf(mass.numerator) / mass.denominator * UNIT
            assert upper.low == below
            assert int(upper.masses[0]) >= units * share > int(upper.masses[0]) - 1
            assert int(upper.masses[1]) >= units * (1 - share) > int(upper.masses[1]) - 1
            assert int(upper.inf) >= units
            assert max(int(lower.p[0]), int(lower.over_p)) <= units
            assert min(int(lower.q[0]), int(lower.over_q)) >= units / 3


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_too_large_for_integers_end_no_program(sign):
    """As FLINT does, of masses that are hardly known."""
    huge = sign * arb((1, 10**25))
    for rounded in (floor, ceil):
        with pytest.raises(ArithmeticError, match="too large for an integer"):
            rounded(huge)
    with pytest.raises(ArithmeticError, match="too large for an integer"):
        split_atom(huge, arb(1))


def test_a_mass_of_infinite_loss_that_is_hardly_known_is_no_answer():
    text = "poisson(partition_selection(1e3, 999/1000)^1000000000000000000, 999/1000)^400"
    with pytest.raises(dpexact.PrecisionNotReached):
        dpexact.epsilon(text, "1e-300", 8, "add")


def test_numbers_that_are_no_bounds_may_be_integers(monkeypatch):
    """Weights in units are larger than what is turned into fractions may be, where that is cut."""
    monkeypatch.setattr(balls, "MAX_EXPONENT", 60)
    assert int(floor(arb(2) ** 100)) == 2**100
