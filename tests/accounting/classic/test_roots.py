"""Enclosed roots of increasing functions."""

from fractions import Fraction

import pytest
from flint import arb

from dpexact import balls
from dpexact.accounting.classic.roots import increasing_root, propose_root


@pytest.mark.parametrize("power", [1, 3, 9])
def test_roots_of_powers(power):
    """``x^p = 2``, steep and flat: bracketed exactly and tight."""
    with balls.precision(150):
        found = increasing_root(lambda x: x**power - 2, arb(0), arb(5))
        x = balls.to_enclosure(found)
    assert x.lower**power <= 2 <= x.upper**power
    assert x.digits >= 20


def test_a_wrong_proposal_is_not_certified(monkeypatch):
    """Only signs decide: with a false proposal the answer is not finite."""
    from dpexact.accounting.classic import roots

    monkeypatch.setattr(roots, "propose_root", lambda *_: arb(2))
    with balls.precision(100):
        assert not increasing_root(lambda x: x - 1, arb(0), arb(5)).is_finite()


def test_a_root_next_to_0_of_what_is_hardly_known():
    """Where most bits cancel in the function, the ball is as wide as they are few."""
    with balls.precision(300):
        loss = -(1 - arb(10) ** -60).log()
        found = increasing_root(lambda t: t + t * t - loss, arb(0), arb(1))
        assert found.rel_accuracy_bits() > 40
        assert (found - (((4 * loss) + 1).sqrt() - 1) / 2).contains(0)


def test_roots_at_the_ends():
    with balls.precision(100):
        assert increasing_root(lambda x: x, arb(0), arb(1)).contains(0)
        assert increasing_root(lambda x: x - 1, arb(0), arb(1)).contains(1)
        assert propose_root(lambda x: x + 1, arb(0), arb(1)) == 0


def test_functions_on_which_secants_crawl():
    calls = []

    def steep(x):
        calls.append(x)
        return (x * 400).exp() - 2

    with balls.precision(200):
        found = balls.to_enclosure(increasing_root(steep, arb(-1), arb(1)))
        exact = balls.to_enclosure(arb(2).log() / 400)
    assert found.overlaps(exact)
    assert found.digits >= 40
    assert len(calls) < 700
    assert found.upper < Fraction(1, 500)


def test_a_root_of_any_size_takes_few_looks() -> None:
    """It was halved for once a bit of the range, and went on where all was noise."""
    looks: list[arb] = []

    def ask(x: arb) -> arb:
        looks.append(x)
        return x**3 - arb("1e-900") + arb(0, "1e-920")

    with balls.precision(150):
        found = propose_root(ask, arb(0), arb("0.001"))
        assert abs(found - arb("1e-300")) < arb("1e-318")
    assert len(looks) < 100
