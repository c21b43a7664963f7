import random
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import pytest

import dpexact
from dpexact import InvalidInput
from dpexact.empirical import clopper_pearson, from_counts, from_scores, read_scores

NORMAL = NormalDist()


def test_a_threshold_counts_what_reaches_it() -> None:
    found = from_scores([1, 2, 3, 3], [0, 1, 2], [2])
    assert found.outcome == "3 of 4 true positives, 1 of 3 false positives, at the threshold 2"
    assert found.epsilon == from_counts(3, 1, 4, 3).epsilon


def test_every_threshold_is_a_look() -> None:
    members, others = range(50, 100), range(60)
    found = from_scores(members, others, [60, 55, 60, 0], looks=2)
    assert found.looks == 6
    assert found.epsilon == from_counts(40, 0, 50, 60, looks=6).epsilon
    assert found.outcome.endswith("at the threshold 60")


def test_a_split_counts_only_the_half_that_did_not_choose() -> None:
    members, others = range(1000, 1100), range(101)
    found = from_scores(members, others, split=3)
    assert " of 50 true positives, 0 of 51 false positives, " in found.outcome
    assert found.looks == 1
    assert found == from_scores(reversed(members), others, split=3)


def test_a_split_of_null_scores_covers() -> None:
    """Of 200 null attacks, at 95 % 10 are wrong on average; 25 would be a miracle (1e-5)."""
    generator = random.Random(1)
    wrong = 0
    for seed in range(200):
        members, others = ([generator.randrange(1000) for _ in range(12)] for _ in range(2))
        wrong += from_scores(members, others, split=seed, digits=3).epsilon.lower > 0
    assert wrong <= 25


# --- null scores ----------------------------------------------------------------------------------


def _absolute_mu(members: list[int], others: list[int], error: Fraction) -> float:
    """The largest |isf(FPR) - ppf(FNR)| over all thresholds, with Clopper-Pearson's upper limits

    at Bonferroni's level: the absolute value takes "no evidence" for evidence of the reverse.
    """
    limits = sorted({*members, *others})
    share = error / (2 * (len(limits) + 1))
    found = 0.0
    for limit in limits:
        missed = sum(score < limit for score in members)
        alarms = sum(score >= limit for score in others)
        fnr = float(clopper_pearson(missed, len(members), share, 6)[1].upper)
        fpr = float(clopper_pearson(alarms, len(others), share, 6)[1].upper)
        if max(fnr, fpr) < 1:
            found = max(found, abs(-NORMAL.inv_cdf(fpr) - NORMAL.inv_cdf(fnr)))
    return found


def test_null_scores_convict_nobody() -> None:
    """Members and others with the same scores: an absolute value made epsilon >= 3.54 of such."""
    scores = list(range(40))
    mu = _absolute_mu(scores, scores, Fraction(1, 20))
    claimed = dpexact.epsilon(f"gdp({mu})", "1e-5").lower
    assert claimed > 3.54
    claim = {"mechanism": "gdp(0)", "claims": "epsilon", "epsilon": "3.54", "delta": "1e-5"}
    report = dpexact.audit({**claim, "kind": "lower"})
    assert report.findings[0].verdict == "unsound"
    found = from_scores(scores, scores, scores, delta="1e-5")
    assert found.epsilon.upper == 0
    assert all(from_scores(scores, scores, split=s).epsilon.upper == 0 for s in range(5))


# --- files ----------------------------------------------------------------------------------------


def test_a_file_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("run,member,score\n1,1,0.5\n2,0,-1e-3\n3,TRUE,2\n4,false,1/3\n", "utf-8")
    assert read_scores(path) == (
        [Fraction(1, 2), Fraction(2)],
        [Fraction(-1, 1000), Fraction(1, 3)],
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "line 1: expected the columns score and member"),
        ("", "line 1: expected the columns score and member"),
        ("score,member\n1,1\n2,yes\n", "line 3: member: 'yes' is not accepted; use 1 or 0"),
        ("score,member\nnan,1\n", "line 2: score: "),
        ("score,member\n1\n", "line 2: member: None is not accepted"),
        ("score,member\n,1\n", "line 2: score: "),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=said):
        read_scores(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot read the file: No such file"):
        read_scores(tmp_path / "none.csv")
    path = tmp_path / "scores.csv"
    path.write_bytes(b"score,member\n\xff,1\n")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        read_scores(path)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "thresholds: give thresholds that were fixed before, or a split"),
        ({"thresholds": [1], "split": 1}, "thresholds: give thresholds"),
        ({"members": [], "split": 1}, "members: none is given"),
        ({"others": [1], "split": 1}, "split: needs at least two scores"),
        ({"split": -1}, "split: -1 is not accepted"),
        ({"thresholds": ["x"]}, "threshold: "),
    ],
)
def test_what_is_refused(changed: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        from_scores(**{"members": [1, 2], "others": [0, 1], **changed})  # type: ignore[arg-type]
