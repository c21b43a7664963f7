"""What an answer stands for: the truth, or a bound of it from one side."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest

import dpexact
from dpexact.accounting.standing import EXACT, STANDINGS, Standing, standing, unattained
from dpexact.audits import Claim, judge
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import PureDP
from dpexact.mechanisms.base import Mechanism


def test_an_enclosure_carries_it():
    found = Enclosure(Fraction(1), Fraction(2), "m")
    assert (found.bound, found.theorem, found.of_truth()) == ("exact", "", found)
    above = Enclosure.exact(Fraction(2)).as_bound("upper", "Theorem")
    assert above.relation == "<="
    assert above.theorem == "Theorem"
    assert above.of_truth().lower == -float("inf")
    assert above.of_truth().upper == 2
    below = found.as_bound("lower", "Theorem")
    assert below.relation == ">="
    assert below.safe() == "1"
    assert below.of_truth().upper == float("inf")
    assert below.of_truth().lower == 1


def test_parts_that_count():
    assert standing(dpexact.parse("gaussian(1) * poisson(zcdp(1), 1/2)")).bound == "upper"
    alone = ("repeat_and_select(laplace(1), 1, 1/2)", "shuffle(pure_dp(1), 1)")
    for text in ("gaussian(1)", "poisson(zcdp(1), 0)", "zcdp(0)^5", *alone):
        assert standing(dpexact.parse(text)) is EXACT
    for text in ("repeat_and_select(laplace(1), 1)", "shuffle(pure_dp(1), 2)"):
        assert standing(dpexact.parse(text)).bound == "upper"


@dataclass(frozen=True, slots=True, repr=False)
class Below(Mechanism):
    name: ClassVar[str] = "below"


@pytest.fixture
def lower(monkeypatch):
    said = Standing("lower", "some attack gives a lower bound only")
    monkeypatch.setitem(STANDINGS, Below, lambda mechanism: said)
    monkeypatch.setitem(STANDINGS, PureDP, lambda mechanism: said)
    return said


def test_bounds_from_both_sides_say_nothing(lower):
    with pytest.raises(UnsupportedMechanism, match="nothing is known from one side"):
        standing(dpexact.parse("zcdp(1)") * Below())


def test_answers_carry_it(lower):
    m = dpexact.parse("pure_dp(1)^3")
    for found in (dpexact.delta(m, 1), dpexact.epsilon(m, "1/100"), dpexact.renyi(m, 3)):
        assert found.bound == "lower"
        assert found.theorem == lower.theorem
    assert dpexact.tradeoff(m)("1/10").bound == "upper"
    _, upper = dpexact.delta_bounds(m, [0.0, 1.0])
    assert list(upper) == [1.0, 1.0]
    (point,) = dpexact.epsilon_curve("pure_dp(1)", [3], "1/100")
    assert point.bound == "lower"


def test_audits_condemn_only_by_what_is_certain(lower):
    def verdict(claimed, kind, mechanism="pure_dp(1)^3"):
        return judge(Claim(mechanism, "delta", claimed, 1, kind))

    assert verdict("0.01", "upper").verdict == "unsound"
    assert verdict("0.01", "lower").verdict == "sound"
    open_ = verdict("0.9", "upper")
    assert open_.verdict == "undecided"
    assert open_.note == "some attack gives a lower bound only; above it no claim can be judged"
    assert verdict("0.9", "upper", "zcdp(1)").verdict == "sound"
    assert verdict("0.01", "upper", "zcdp(1)").verdict == "undecided"
    assert verdict("0.999", "lower", "zcdp(1/100)").verdict == "unsound"
    assert unattained(dpexact.parse("zcdp(1)"))
