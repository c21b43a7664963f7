"""Comparisons without a truth value."""

import copy
import pickle

import pytest

from dpexact.ternary import Order, Ternary


@pytest.mark.parametrize("answer", [*Ternary, *Order])
def test_no_answer_is_true_or_false(answer):
    kind = type(answer).__name__
    uses = [
        lambda: bool(answer),
        lambda: not answer,
        lambda: answer and 1,
        lambda: answer or 1,
        lambda: 1 if answer else 0,
        lambda: all([answer]),
        lambda: any([answer]),
        lambda: list(filter(None, [answer])),
    ]
    for use in uses:
        with pytest.raises(TypeError, match=f"no truth value: compare it with a member of {kind}"):
            use()


def test_answers_are_compared_with_members():
    assert [answer is Ternary.HOLDS for answer in Ternary] == [True, False, False]
    assert Ternary.UNDECIDED not in (Ternary.HOLDS, Ternary.FAILS)
    assert Ternary.HOLDS != Order.EQUAL
    assert len(set(Ternary)) == 3
    assert len(set(Order)) == 4


@pytest.mark.parametrize("answer", [*Ternary, *Order])
def test_copies_are_the_member_itself(answer):
    assert pickle.loads(pickle.dumps(answer)) is answer
    assert copy.deepcopy(answer) is answer


def test_of_what_is_certain():
    assert Ternary.of(True, False) is Ternary.HOLDS
    assert Ternary.of(False, True) is Ternary.FAILS
    assert Ternary.of(False, False) is Ternary.UNDECIDED


def test_signs_are_orders():
    assert [Order(sign) for sign in (-1, 0, 1)] == [Order.BELOW, Order.EQUAL, Order.ABOVE]
