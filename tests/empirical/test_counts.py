from fractions import Fraction
from itertools import product

import pytest
from exact_binomials import exceeds, log, mass

from dpexact import InvalidInput
from dpexact.empirical import LowerBound, clopper_pearson, from_counts


@pytest.mark.parametrize(("delta", "looks"), [("0", 1), ("1/50", 1), ("1/50", 4)])
def test_the_formula(delta: str, looks: int) -> None:
    """With limits that are asked for by themselves, in either direction."""
    d = Fraction(delta)
    error = Fraction(1, 20) / looks / 2
    for hits, alarms in [(38, 1), (40, 0), (20, 2), (39, 25), (10, 10)]:
        rate = Fraction(clopper_pearson(hits, 40, error)[0].lower)
        false = Fraction(clopper_pearson(alarms, 30, error)[1].upper)
        best = max((rate - d) / false, (1 - false - d) / (1 - rate), Fraction(1))
        found = from_counts(hits, alarms, 40, 30, delta, looks=looks)
        assert abs(found.epsilon.lower - log(best).lower) < Fraction(1, 10**12)
        assert found.epsilon.lower <= log(best).upper


@pytest.mark.parametrize(
    ("positives", "negatives", "delta", "confidence"),
    [(8, 8, "0", "0.95"), (9, 5, "1/10", "0.95"), (6, 6, "0", "0.6"), (5, 8, "1/20", "0.6")],
)
@pytest.mark.slow
def test_coverage_by_enumeration(
    positives: int, negatives: int, delta: str, confidence: str
) -> None:
    """Whatever the true rates, the bound exceeds the epsilon that they show with at most 5 %."""
    table = {
        (hits, alarms): from_counts(hits, alarms, positives, negatives, delta, confidence)
        for hits, alarms in product(range(positives + 1), range(negatives + 1))
    }
    assert any(found.epsilon.lower > 0 for found in table.values())
    rates = [Fraction(i, 12) for i in range(1, 12)]
    for true, false in product(rates, rates):
        wrong = sum(
            mass(positives, hits, true) * mass(negatives, alarms, false)
            for (hits, alarms), found in table.items()
            if exceeds(found.epsilon, _odds(true, false, Fraction(delta)))
        )
        assert wrong <= 1 - Fraction(confidence)


def _odds(true: Fraction, false: Fraction, delta: Fraction) -> Fraction:
    """The least ``e^epsilon`` that allows these rates."""
    return max((true - delta) / false, (1 - false - delta) / (1 - true), Fraction(1))


def test_the_best_of_many_looks_at_null_scores_covers() -> None:
    """An attack that is chosen among four from what it showed convicts nobody more often."""
    n = looks = 4
    true = Fraction(1, 2)
    table: dict[tuple[int, int], LowerBound] = {}
    for hits, alarms in product(range(n + 1), repeat=2):
        table[hits, alarms] = from_counts(hits, alarms, n, n, 0, "1/3", looks)
    right = sum(
        mass(n, hits, true) * mass(n, alarms, true)
        for (hits, alarms), found in table.items()
        if found.epsilon.lower == 0
    )
    assert right**looks >= Fraction(1, 3)  # all looks are right together
    alone = from_counts(n, 0, n, n, 0, "1/3").epsilon.lower
    assert alone > table[n, 0].epsilon.lower


def test_an_attack_below_chance_shows_nothing() -> None:
    assert from_counts(0, 100, 100, 100).epsilon.upper == 0


def test_many_digits_and_many_trials() -> None:
    assert from_counts(90, 10, 100, 100, digits=200).epsilon.digits >= 199
    assert from_counts(5 * 10**8, 4 * 10**8, 10**9, 10**9).epsilon.digits >= 13


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"true_positives": 11}, "true_positives: 11 is not accepted; must be an integer from 0"),
        ({"negatives": 0}, "negatives: 0 is not accepted"),
        ({"delta": 2}, "delta: 2 is not accepted; must be >= 0 and <= 1"),
        ({"delta": "exp(-9)"}, r"delta: exp\(-9\) is not accepted; must be rational"),
        ({"confidence": 1}, "confidence: 1 is not accepted; must be > 0 and < 1"),
        ({"looks": 0}, "looks: 0 is not accepted"),
        ({"digits": 10_000}, "digits: 10000 is not accepted"),
    ],
)
def test_what_is_refused(changed: dict[str, object], said: str) -> None:
    arguments = {"true_positives": 9, "false_positives": 1, "positives": 10, "negatives": 10}
    with pytest.raises(InvalidInput, match=said):
        from_counts(**{**arguments, **changed})  # type: ignore[arg-type]
