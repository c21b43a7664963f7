"""A small campaign with a fixed seed, and campaigns against answers that are wrong on purpose."""

from __future__ import annotations

import time

import pytest
from soundness import starvation
from soundness.asking import FAMILIES
from soundness.campaign import campaign, run, table
from soundness.trial import TimeUp, limited

import dpexact
from dpexact import balls

# an interrupt may fall into the end of a generator, which can only report it
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

SEED = 20
TRIALS = 600


@pytest.mark.slow
@pytest.mark.parametrize("starve", [False, True], ids=["plain", "starved"])
def test_no_answer_is_wrong(starve):
    results = list(campaign(SEED, trials=TRIALS, starve=starve, limit=0.2))
    failures = [result.shown() for result in results if result.outcome == "failed"]
    assert not failures, "\n".join(failures)
    outcomes = [result.outcome for result in results]
    assert outcomes.count("ok") + outcomes.count("wide") > TRIALS // 2, table(results)
    assert {result.family for result in results} == set(FAMILIES)
    assert not starve or outcomes.count("wide") > TRIALS // 20


def test_no_trial_is_interrupted_in_the_lock_of_coverage():
    loop = "start = process_time()\nwhile process_time() - start < seconds:\n    pass\n"
    ended = []

    def spin(folder, seconds):
        code = compile(loop, f"/{folder}/collector.py", "exec")
        exec(code, {"process_time": time.process_time, "seconds": seconds})
        ended.append(folder)

    def both():
        spin("coverage", 1.0)
        spin("dpexact", 5.0)

    # a collection of garbage before the loop may take tenths of a second
    with pytest.raises(TimeUp), limited(0.5):
        both()
    assert ended == ["coverage"]


def found_after(names, trials=200, **options):
    """The first failure, and after how many trials."""
    for result in campaign(SEED, trials=trials, names=names, limit=2.0, **options):
        if result.outcome == "failed":
            return result
    return None


def test_a_wrong_binomial_tail_is_noticed(monkeypatch):
    from dpexact.accounting import binomial

    right = binomial.binomial_tail
    monkeypatch.setattr(binomial, "binomial_tail", lambda *a: right(*a) * ball("1.001"))
    assert found_after(["outcomes", "near_equal"]) is not None


def test_a_wrong_comparison_of_the_prover_is_noticed(monkeypatch):
    from proofs_checks.prover import numbers

    right = numbers._decide
    weaker = {"<": "<=", ">": ">="}
    monkeypatch.setattr(numbers, "_decide", lambda a, sign, b: right(a, weaker.get(sign, sign), b))
    assert found_after(["statements_of_numbers"]) is not None


def ball(text):
    from flint import arb

    return arb(text)


def test_a_wrong_gaussian_is_noticed(monkeypatch):
    """One that forgets a part of its error: ``delta`` one part in 10^4 too narrow and too high."""
    from dpexact.accounting.engines import closed_form

    right = closed_form.gaussian_divergence
    wrong = lambda *x: right(*x) * ball("1.0001")  # noqa: E731
    monkeypatch.setattr(closed_form, "gaussian_divergence", wrong)
    assert found_after(["densities"]) is not None


@pytest.mark.parametrize("quantity", ["delta", "epsilon", "renyi", "calibrate"])
def test_a_partial_answer_off_the_truth_is_noticed(monkeypatch, quantity):
    right = getattr(dpexact, quantity)

    def wrong(*arguments, **options):
        found = right(*arguments, **options)
        best = dpexact.Enclosure(found.upper + 1, found.upper + 2)
        raise dpexact.PrecisionNotReached("short", best)

    monkeypatch.setattr(dpexact, quantity, wrong)
    names = ["calibration"] if quantity == "calibrate" else ["outcomes", "divergences"]
    failure = found_after(names, 60)
    assert failure is not None
    assert f"dpexact.{quantity}(" in failure.calls[-1]


def test_errors_that_are_not_documented_are_failures(monkeypatch):
    def wrong(*arguments, **options):
        raise ArithmeticError("a ball")

    monkeypatch.setattr(dpexact, "delta", wrong)
    assert found_after(["outcomes"], 20).message == "ArithmeticError: a ball"


def test_a_trial_can_be_repeated():
    first, second = (run(3, 17, tuple(FAMILIES), False, 5.0) for _ in range(2))
    assert (first.family, first.calls, first.outcome) == (
        second.family,
        second.calls,
        second.outcome,
    )


def test_starvation_ends():
    before = {place: _value(place) for places in _places().values() for place in places}
    guard = balls.GUARD_BITS
    for seed in range(20):
        with starvation.starved(str(seed)) as cuts:
            assert cuts.get("balls.GUARD_BITS", guard) == balls.GUARD_BITS
    assert guard == balls.GUARD_BITS
    assert before == {place: _value(place) for place in before}


def test_a_trial_that_is_late_leaves_nothing_cut(monkeypatch):
    write = starvation._write

    def slowly(*place):
        began = time.process_time()
        while time.process_time() - began < 0.002:
            pass
        return write(*place)

    monkeypatch.setitem(FAMILIES, "quick", (lambda trial, rng: None, 1.0))
    before = {place: _value(place) for places in _places().values() for place in places}
    monkeypatch.setattr(starvation, "_write", slowly)
    for number in range(5):
        assert run(1, number, ["quick"], True, 0.001).outcome == "ok"
    assert before == {place: _value(place) for place in before}


def _places():
    with starvation.starved("first"):
        pass
    return starvation._found


def _value(place):
    kind, holder, key = place
    return getattr(holder, key) if kind == "name" else holder.__defaults__[key]


def test_names_that_are_gone_are_listed(monkeypatch):
    monkeypatch.setattr(starvation, "CUTS", (("balls", "NO_SUCH_NAME", (1,)),))
    monkeypatch.setattr(starvation, "_found", {})
    with (
        pytest.raises(LookupError, match=r"dpexact\.balls\.NO_SUCH_NAME"),
        starvation.starved("1"),
    ):
        pass
