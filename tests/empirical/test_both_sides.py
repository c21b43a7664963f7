from fractions import Fraction

import pytest

import dpexact
from dpexact.empirical import (
    both_sides,
    from_counts,
    from_guesses,
    mechanism_p_value,
    one_run_profile,
)
from dpexact.errors import UnsupportedMechanism
from dpexact.ternary import Ternary


def test_more_than_the_mechanism_can_leak_convicts() -> None:
    attack = from_counts(990, 5, 1000, 1000, delta="1e-5")
    joined = both_sides(attack, "gaussian(2)")
    assert joined.convicted is Ternary.HOLDS
    assert joined.upper == dpexact.epsilon("gaussian(2)", "1e-5")
    assert joined.to_json(15)["convicted"] is True


def test_less_than_the_mechanism_leaks_convicts_nobody() -> None:
    joined = both_sides(from_guesses(1000, 100, 70, "1e-5"), dpexact.gaussian("1/10"))
    assert joined.convicted is Ternary.FAILS
    assert "convicted" not in joined.verdict


def test_the_two_sides_are_asked_at_one_delta() -> None:
    attack = from_counts(90, 10, 100, 100, delta="1/100")
    assert both_sides(attack, "gaussian(2)").upper == dpexact.epsilon("gaussian(2)", "1/100")


@pytest.mark.parametrize(("looks", "verdict"), [(1, Ternary.HOLDS), (9, Ternary.FAILS)])
def test_one_run_is_held_against_the_whole_profile(looks: int, verdict: Ternary) -> None:
    """0.0218 is below an error of 0.05 and above one of 0.05/9; the two epsilons say nothing."""
    joined = both_sides(from_guesses(1000, 100, 95, "1e-5", looks=looks), "gaussian(1.4)")
    assert joined.convicted is verdict
    assert joined.upper.less_than(joined.attack.epsilon) is Ternary.FAILS
    assert joined.p_value == mechanism_p_value(1000, 100, 95, "gaussian(1.4)")
    assert joined.to_json(15)["p_value"] == "0.02184"


def test_runs_of_the_counted_kind_have_no_such_p_value() -> None:
    joined = both_sides(from_counts(90, 10, 100, 100), "pure_dp(1)")
    assert joined.p_value is None
    assert joined.to_json(15)["p_value"] is None


def test_the_sentence_rounds_outward() -> None:
    joined = both_sides(from_counts(90, 10, 100, 100), "pure_dp(log(7))")
    words = joined.sentence.split()
    low, high = (Fraction(words[i]) for i in (words.index("least") + 1, words.index("most") + 1))
    assert low <= joined.attack.epsilon.lower
    assert high >= joined.upper.upper
    assert joined.upper.upper - high > Fraction(-1, 10**4)


@pytest.mark.parametrize("mechanism", ["zcdp(2)", "gaussian(1) * zcdp(1/10)"])
def test_an_upper_bound_alone_is_a_side_too(mechanism: str) -> None:
    weak = both_sides(from_counts(60, 40, 100, 100, delta="1e-5"), mechanism)
    assert weak.convicted is Ternary.FAILS


def test_what_is_known_from_below_only_convicts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """The epsilon of shuffled batches is above 4.06 and may be that of ``gaussian(1)``, 4.377."""
    for attack in (from_counts(996, 0, 1000, 1000), from_guesses(1000, 100, 100)):
        with pytest.raises(UnsupportedMechanism, match="nothing is known from above"):
            both_sides(attack, "shuffled_batches(gaussian(1), 100)")
    monkeypatch.setattr(one_run_profile, "_POINTS", 2)
    with pytest.raises(UnsupportedMechanism, match="nothing is known from above"):
        mechanism_p_value(10, 10, 10, "shuffled_batches(gaussian(1), 2)")
    assert both_sides(from_counts(60, 40, 100, 100), "shuffled_batches(gaussian(1), 1)")


def test_no_finite_upper_side_is_never_exceeded() -> None:
    joined = both_sides(from_counts(990, 5, 1000, 1000), "gaussian(1)")
    assert joined.upper.upper == float("inf")
    assert joined.convicted is Ternary.FAILS
