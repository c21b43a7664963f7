"""Batches: every claim once, work that is shared together, sizes that follow the time taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.audits import Claim
from dpexact.audits.batches import BATCH, CHUNK, Plan, chunks

MECHANISMS = ["gaussian(1)", "gaussian(2)", "pure_dp(1)"]


def claims_of(numbers):
    return [Claim(MECHANISMS[n % 3], "delta", "1e-3", str(n // 3), "upper") for n in numbers]


@given(st.lists(st.integers(0, 40), max_size=300))
def test_chunks_hold_every_claim_once_and_one_mechanism(numbers):
    claims = claims_of(numbers)
    found = chunks(claims)
    assert sorted(place for chunk in found for place in chunk) == list(range(len(claims)))
    for chunk in found:
        assert len(chunk) <= CHUNK
        assert len({claims[place].mechanism for place in chunk}) == 1
    firsts = [chunk[0] for chunk in found]
    assert firsts == sorted(firsts)


def test_the_same_question_is_in_one_chunk():
    claims = claims_of([3 * (n % 40) for n in range(80)])
    for chunk in chunks(claims):
        asked = [claims[place].at for place in chunk]
        assert len(chunk) % 2 == 0
        assert asked[::2] == asked[1::2]


@given(st.lists(st.integers(0, 40), max_size=300), st.lists(st.floats(1e-9, 1e3), max_size=50))
def test_a_plan_hands_out_everything_once(numbers, times):
    claims, seen = claims_of(numbers), []
    plan = Plan(claims)
    while batch := plan.take():
        seen += [place for chunk in batch for place in chunk]
        plan.learn(times)
    assert sorted(seen) == list(range(len(claims)))


def apart(count):
    return [Claim(f"gaussian({n + 1})", "delta", "1e-3", "1", "upper") for n in range(count)]


@pytest.mark.slow
def test_the_size_of_a_batch_follows_the_time_taken():
    plan = Plan(apart(4000))
    first = plan.take()
    plan.learn([1e-4] * len(first))
    quick = plan.take()
    plan.learn([60.0] * len(quick))
    assert 1 < len(first) < 20
    assert len(quick) == BATCH
    assert len(plan.take()) == 1


def test_the_last_batches_are_small():
    plan = Plan(apart(100))
    plan.learn([1e-6])
    sizes = []
    while batch := plan.take():
        sizes.append(len(batch))
    assert sizes[0] == 12
    assert sizes[-8:] == [1] * 8


def test_what_is_put_back_comes_next_and_alone():
    plan = Plan(claims_of(range(9)))
    plan.learn([60.0])
    batch = plan.take()
    assert batch == [(0, 3, 6)]
    plan.put_back(batch)
    assert [plan.take() for _ in range(4)] == [[(0,)], [(3,)], [(6,)], [(1, 4, 7)]]
    plan.stop()
    assert plan.take() == []
