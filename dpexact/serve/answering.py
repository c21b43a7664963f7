"""The certified answer to a form, in the terms of the command line."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from dpexact.accounting.calibrate import calibrate
from dpexact.accounting.queries import delta, epsilon
from dpexact.answers import best_and_problem
from dpexact.arguments import Direction, direction_in
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism, parse
from dpexact.serve.forms import Form
from dpexact.training.frameworks import Run, training_run

#: Certified digits asked for, as on the command line.
DIGITS: Final = 15


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: ``quantity`` of ``mechanism`` at ``at``.

    ``run`` and ``sigma`` are those of a training run; ``target`` the epsilon that its noise was
    sought for, if it was.
    """

    mechanism: Mechanism
    quantity: Literal["epsilon", "delta"]
    at: str
    direction: Direction
    run: Run | None = None
    sigma: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer: ``problem`` says what kept it from its digits, if anything did."""

    asked: Asked
    found: Enclosure
    problem: str
    seconds: float


@lru_cache(maxsize=4)
def asked(form: Form) -> Asked:
    """The question that the form asks; noise for a target is sought here.

    Raises:
        InvalidInput: a field is empty or out of its domain, or no noise meets the target.
    """
    direction = direction_in(form["direction"])
    if form["mode"] == "expression":
        if "@" in form.text("expr"):
            raise InvalidInput("expr: the page reads no files; write the outcomes of the pair")
        mechanism = parse(form.text("expr"))
        if form["question"] == "delta":
            return Asked(mechanism, "delta", form.text("epsilon"), direction)
        return Asked(mechanism, "epsilon", form.text("delta"), direction)
    sizes = ("dataset", "batch", "epochs", "rate", "steps")
    run = training_run(
        form["framework"],  # type: ignore[arg-type]  # a choice that the form checked
        **{name: form.text(name) for name in sizes if form.counts(name)},
        sampling=form["sampling"],  # type: ignore[arg-type]
        microbatches=bool(form["microbatches"]),
    )
    at = form.text("delta")
    if form["noise"] == "sigma":
        sigma, target = form.text("sigma"), ""
    else:
        target = form.text("target-epsilon")
        sigma = calibrate(run.template, target, at, 7, direction).safe()
        if sigma in ("0", "inf"):
            met = "any noise" if sigma == "0" else "no finite noise"
            raise InvalidInput(f"target-epsilon: {target} at delta = {at} is met by {met}")
    return Asked(run.mechanism(sigma), "epsilon", at, direction, run, sigma, target)


@lru_cache(maxsize=4)
def answered(form: Form) -> Answered:
    """The answer to the form, as narrow as was certified.

    Raises:
        InvalidInput, UnsupportedMechanism: as :func:`dpexact.epsilon`.
    """
    question = asked(form)
    ask = epsilon if question.quantity == "epsilon" else delta
    started = time.perf_counter()
    found, problem = best_and_problem(
        lambda: ask(question.mechanism, question.at, DIGITS, question.direction)
    )
    return Answered(question, found, problem, time.perf_counter() - started)
