"""The Laplace transform of an allocation: any plan encloses, each error term is needed."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from hypothesis import given
from hypothesis import strategies as st

from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.pairs.allocation import Allocation
from dpexact.accounting.profile import InfiniteLoss
from dpexact.certificate_checker import Invalid, Undecided, Unreadable
from dpexact.certificate_checker_mpfr.allocation import Transform
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic
from dpexact.conversion import real

#: Of noise 1, ten steps, and epsilon = 1.
PLAN = {
    "c": "5",
    "h": "29/20",
    "count": "100",
    "lift": "39/50",
    "spacing": "1/8",
    "half": "65",
    "shift": "1",
}


def steps(t=10, inner=("gaussian", "1", "1")):
    return {json.dumps(["allocation", list(inner), str(t)]): 1}


def found(changes, way="remove", epsilon="1", bits=128, law=None):
    a = Arithmetic(bits)
    at = a.exact(Fraction(epsilon))
    return Transform(law or steps(), way, {**PLAN, **changes}, a).delta(at)


def ends(interval):
    return [Fraction(*map(int, x.as_integer_ratio())) for x in (interval.lo, interval.hi)]


def encloses(interval, known):
    low, high = ends(interval)
    return low <= known.upper and high >= known.lower


def truth(way, epsilon="1", sigma="1", t=10):
    """By the other engine, which works with moments along rays."""
    pair = Allocation(real(sigma), t, way == "add")
    return ContourProfile(((pair, 1),), InfiniteLoss()).delta(real(epsilon), 8)


#: Rules that leave something out, each with what it leaves out.
COARSE = {
    "the nodes beyond the last": {"count": "2"},
    "the bound without a shift": {"count": "3", "shift": "0"},
    "the aliases of the inner rule": {"spacing": "1", "half": "20"},
    "the nodes of the inner rule": {"half": "20"},
    "the aliases above": {"c": "1/5"},
    "the shorter period": {"h": "23/10"},
    "the longer period": {"h": "3/4", "count": "150"},
}


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize("changes", [{}, *COARSE.values()], ids=["none", *COARSE])
def test_any_plan_encloses(changes, way):
    delta, known = found(changes, way), truth(way)
    assert known.digits >= 8
    assert encloses(delta, known)


@given(
    c=st.fractions(Fraction(1, 10), 9, max_denominator=20),
    h=st.fractions(Fraction(1, 5), Fraction(23, 10), max_denominator=20),
    count=st.integers(1, 60),
    spacing=st.fractions(Fraction(1, 10), 1, max_denominator=10),
    half=st.integers(3, 60),
    shift=st.fractions(0, Fraction(3, 2), max_denominator=20),
)
def test_random_plans_enclose(c, h, count, spacing, half, shift):
    numbers = {"c": c, "h": h, "count": count, "spacing": spacing, "half": half, "shift": shift}
    delta = found({name: str(x) for name, x in numbers.items()})
    low, high = ends(delta)
    assert low <= Fraction("0.0027828689992")
    assert high >= Fraction("0.0027828689991")


@pytest.mark.parametrize("way", ["remove", "add"])
def test_a_good_plan_is_sharp(way):
    delta, known = found({}, way), truth(way)
    low, high = ends(delta)
    assert high - low < known.lower / 1000


def test_steps_that_share_a_batch_are_one():
    inner = ["repeat", ["gaussian", "2", "1"], "4"]
    assert found({}, law=steps(inner=inner)).lo == pytest.approx(found({}).lo, rel=1e-12)
    inner = ["compose", ["gdp", "3/5"], ["gaussian", "5", "4"]]
    assert found({}, law=steps(inner=inner)).lo == pytest.approx(found({}).lo, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "error", "reason"),
    [
        ({"h": "12/5"}, Invalid, "period below"),
        ({"lift": "4/5"}, Invalid, "strip"),
        ({"shift": "8/5"}, Invalid, "right angle"),
        ({"shift": "-1"}, Invalid, "ranges"),
        ({"c": "0"}, Invalid, "ranges"),
        ({"c": "1" + "0" * 40}, Invalid, "every node is left out"),
        ({"spacing": "-1/20"}, Invalid, "ranges"),
        ({"half": "0"}, Invalid, "not in|less"),
        ({"count": "1000000"}, Invalid, "not in|more"),
        ({"count": "90000", "half": "90000"}, Invalid, "more work"),
        ({"more": "1"}, Unreadable, "members"),
    ],
)
def test_plans_that_are_none(changes, error, reason):
    with pytest.raises(error, match=reason):
        found(changes)


@pytest.mark.parametrize(
    ("law", "reason"),
    [
        ({json.dumps(["allocation", ["gaussian", "1", "1"], "10"]): 2}, "several"),
        ({**steps(), '["gaussian", "1", "1"]': 1}, "no route"),
        (steps(inner=["laplace", "1", "1"]), "Gaussian"),
        (steps(inner=["poisson", ["gaussian", "1", "1"], "1/2"]), "Gaussian"),
    ],
)
def test_other_steps_have_no_route(law, reason):
    with pytest.raises(Invalid, match=reason):
        found({}, law=law)


def test_few_bits_do_not_lie():
    known = truth("remove")
    for bits in (32, 40, 60):
        try:
            delta = found({}, bits=bits)
        except Undecided:
            continue
        assert encloses(delta, known)


@pytest.mark.parametrize("shift", ["0", "1/2", "1", "3/2"])
def test_the_bound_beyond_the_last_node(shift):
    a = Arithmetic(128)
    short = Transform(steps(), "remove", {**PLAN, "count": "5", "shift": shift}, a)
    psi = short._transforms(a.exact(short.c), a.exact(short.h), 40)
    most = ends(short.beyond)[1] ** 2
    for value in psi[6:]:
        x, y = (ends(part) for part in (value.real, value.imag))
        assert min(map(abs, x)) ** 2 + min(map(abs, y)) ** 2 <= most or x[0] < 0 < x[1]
