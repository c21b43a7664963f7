"""Forms: addresses, commands, and what they refuse."""

import shlex
from urllib.parse import parse_qsl

import pytest
from command_line import invoke

from dpexact.errors import InvalidInput
from dpexact.serve.answering import answered
from dpexact.serve.forms import CHOICES, EXAMPLE, MAX_TEXT, WHEN, Form

RUN = {"rate": "1/10", "steps": "20", "counted": "rate", "sigma": "1", "delta": "1e-5"}
SIZES = {"dataset": "1000", "batch": "100", "epochs": "2", "sigma": "2", "delta": "1e-5"}
FORMS = [
    {},
    RUN,
    SIZES,
    {**SIZES, "framework": "tensorflow-privacy", "microbatches": "yes", "direction": "add"},
    {**SIZES, "framework": "jax-privacy", "sampling": "ordered"},
    {**RUN, "noise": "target-epsilon", "target-epsilon": "2", "direction": "remove"},
    {"mode": "expression", "expr": "gaussian(1)^2 * laplace(3)", "delta": "1e-5"},
    {"mode": "expression", "expr": "laplace(1)", "question": "delta", "epsilon": "1/2"},
    {"mode": "expression", "expr": "poisson(gaussian(1), 1/2)", "delta": "0.1", "direction": "add"},
]


def test_every_field_has_a_place():
    assert set(WHEN) | {"mode", "direction"} == {*CHOICES, *EXAMPLE}


@pytest.mark.parametrize("fields", FORMS)
def test_the_address_gives_the_form_again(fields):
    form = Form.of(fields)
    again = Form.of(dict(parse_qsl(form.address, keep_blank_values=True)))
    assert (again.address, again.command) == (form.address, form.command)
    assert answered(again).found == answered(form).found


@pytest.mark.parametrize("fields", FORMS)
def test_the_command_gives_the_same_answer(fields):
    form = Form.of(fields)
    program, *words = shlex.split(form.command)
    assert program == "dpexact"
    told = invoke(*words)
    assert told.exit_code == 0, told.output
    answer = answered(form)
    line = f"{answer.asked.quantity} {answer.found.relation} {answer.found.safe()}"
    assert line in told.output.splitlines()
    lower, upper = answer.found.decimal_bounds(20)
    assert f"certified in [{lower}, {upper}]" in told.output


def test_a_field_that_counts_and_is_left_out_is_empty():
    form = Form.of({"sigma": "1"})
    assert (form["dataset"], form["delta"]) == ("", "")
    assert form["rate"] == EXAMPLE["rate"]  # proposed, for it does not count
    with pytest.raises(InvalidInput, match=r"^dataset: empty; write for example 60000$"):
        answered(form)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sigmma": "1"}, "unknown field 'sigmma'; did you mean 'sigma'?"),
        ({"mode": "x" * 99}, "mode: 'xxx"),
        ({"direction": "up"}, "direction: 'up' is not accepted; use 'both', 'remove', 'add'"),
        ({"expr": "x" * (MAX_TEXT + 1)}, "the fields are too long together"),
    ],
)
def test_addresses_of_others_are_refused(fields, message):
    with pytest.raises(InvalidInput) as caught:
        Form.of(fields)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 200
