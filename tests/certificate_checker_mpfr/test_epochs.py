"""Several epochs of an allocation by Mellin transforms: any plan encloses, each term is needed."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.pairs.allocation import Allocation
from dpexact.accounting.profile import InfiniteLoss
from dpexact.certificate_checker import Invalid, Undecided, Unreadable
from dpexact.certificate_checker_mpfr.allocation import Transform
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic
from dpexact.certificate_checker_mpfr.epochs import Epochs
from dpexact.conversion import real

#: Of noise 1, ten steps, eight epochs, and epsilon = 1.
PLAN = {
    "c": "3",
    "h": "1/2",
    "count": "20",
    "spacing": "27/200",
    "edge": "157/100",
    "half": "90",
    "first": "-17",
    "nodes": "350",
    "every": "2",
    "angle": "3/2",
    "turn": "4/5",
    "shift": "27/25",
    "beyond": "13",
}


def steps(epochs=8):
    return {json.dumps(["allocation", ["gaussian", "1", "1"], "10"]): epochs}


def made(changes, way="remove", bits=220, epochs=8):
    return Epochs(steps(epochs), way, {**PLAN, **changes}, Arithmetic(bits))


def found(changes, way="remove", bits=220, epochs=8):
    profile = made(changes, way, bits, epochs)
    return ends(profile.delta(profile.a.exact(1)))


def ends(interval):
    return [Fraction(*map(int, x.as_integer_ratio())) for x in (interval.lo, interval.hi)]


def truth(way, epochs=8):
    """By the other engine, which works with moments along rays."""
    pair = Allocation(real("1"), 10, way == "add")
    return ContourProfile(((pair, epochs),), InfiniteLoss()).delta(real("1"), 9)


#: Rules that leave something out, each with what it leaves out.
COARSE = {
    "the nodes beyond the last": {"count": "14"},
    "those and the bound without a shift": {"count": "15", "turn": "1/2", "shift": "4/5"},
    "the aliases of the inner rule": {"spacing": "3/10", "half": "40", "nodes": "160"},
    "the nodes of the inner rule": {"half": "40"},
    "the aliases of the middle rule": {"every": "1", "spacing": "1/4", "half": "50", "nodes": "96"},
    "the nodes on the left": {"first": "-6", "nodes": "187"},
    "the nodes on the right": {"nodes": "320"},
    "the aliases above": {"c": "1"},
    "the shorter period": {"h": "7/10", "count": "15"},
    "the aliases below": {"beyond": "4"},
}


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize("changes", [{}, *COARSE.values()], ids=["none", *COARSE])
def test_any_plan_encloses(changes, way):
    (low, high), known = found(changes, way), truth(way)
    assert low <= known.upper
    assert high >= known.lower
    if changes:
        assert high - low > known.lower / 10**10, "nothing is left out"


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize("epochs", [1, 5, 20])
def test_other_numbers_of_epochs(way, epochs):
    (low, high), known = found({}, way, epochs=epochs), truth(way, epochs)
    assert low <= known.upper
    assert high >= known.lower
    if epochs == 5:
        assert high - low < known.lower / 100


@settings(max_examples=scaled(20))
@given(
    c=st.fractions(1, 6, max_denominator=20),
    h=st.fractions(Fraction(2, 5), Fraction(7, 10), max_denominator=20),
    count=st.integers(12, 24),
    half=st.integers(50, 100),
    first=st.fractions(-20, -6, max_denominator=4),
    angle=st.fractions(1, Fraction(31, 20), max_denominator=20),
    shift=st.fractions(Fraction(4, 5), Fraction(3, 2), max_denominator=20),
    beyond=st.fractions(6, 20, max_denominator=5),
)
def test_random_plans_enclose(**numbers):
    texts = {name: str(x) for name, x in numbers.items()}
    texts["nodes"] = str(int((Fraction("6.6") - numbers["first"]) * 15))
    texts["turn"] = str(numbers["shift"] * Fraction(3, 4))
    try:
        low, high = found(texts)
    except Undecided:
        return
    assert low <= Fraction("0.1662215191")
    assert high >= Fraction("0.166221519")


@pytest.mark.slow
def test_the_bound_beyond_the_last_node():
    """It holds at nodes beyond the last of a shorter sum."""
    for shift, turn in (("93/50", "33/20"), ("1", "4/5"), ("1/10", "0")):
        short = made({"count": "4", "shift": shift, "turn": turn})
        long = made({"count": "16"})
        for n in range(5, 17):
            z = complex(3, n / 2) * complex(4, n / 2)
            value = complex(long.summands[n].real.lo, long.summands[n].imag.lo) * z
            assert abs(value) <= float(short.decayed.hi) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("changes", "error", "reason"),
    [
        ({"edge": "8/5"}, Invalid, "strip"),
        ({"angle": "8/5"}, Invalid, "strip"),
        ({"c": "9/10"}, Invalid, "lines"),
        ({"beyond": "3"}, Invalid, "lines"),
        ({"turn": "-1/10"}, Invalid, "lines"),
        ({"shift": "4/5"}, Invalid, "turn back"),
        ({"shift": "5"}, Invalid, "turn back"),
        ({"h": "0"}, Invalid, "ranges"),
        ({"nodes": "200"}, Invalid, "does not fall"),
        ({"every": "1", "spacing": "9/10", "nodes": "27", "angle": "31/20"}, Invalid, "far apart"),
        ({"count": "90000", "nodes": "90000"}, Invalid, "more work"),
        ({"half": "90000", "every": "90000"}, Invalid, "more work"),
        ({"more": "1"}, Unreadable, "members"),
        ({"count": "0"}, Invalid, "not in|less"),
    ],
)
def test_plans_that_are_none(changes, error, reason):
    with pytest.raises(error, match=reason):
        found(changes)


def test_a_plan_of_one_epoch_is_none_of_several():
    with pytest.raises(Invalid, match="several"):
        Transform(steps(), "remove", PLAN, Arithmetic(64))


@pytest.mark.slow
def test_few_bits_do_not_lie():
    known = truth("remove")
    for bits in (32, 48, 64, 96):
        try:
            low, high = found({}, bits=bits)
        except Undecided:
            continue
        assert low <= known.upper
        assert high >= known.lower
