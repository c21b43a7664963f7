"""Families of questions whose answers share work, or come from several engines."""

from __future__ import annotations

import math
import random
import threading
from fractions import Fraction
from typing import Any

from soundness.asking import (
    digits_of,
    direction_of,
    family,
    fraction_text,
    rate,
    some,
    target_point,
)
from soundness.metamorphic import anything
from soundness.trial import Failed, Refused, Trial

import dpexact
from dpexact import PrecisionNotReached, UnsupportedMechanism


def rare(rng: random.Random) -> str:
    """A Gaussian on rare samples, or a random allocation of one."""
    sigma = some(rng, 0.4, 3)
    if rng.random() < 0.2:
        return f"allocation(gaussian({sigma}), {rng.choice((2, 5, 30))})"
    return f"poisson(gaussian({sigma}), 1e-{rng.randint(2, 6)})^{rng.choice((2, 10, 100, 1000))}"


def different(rng: random.Random) -> list[str]:
    """Different rare samples of Gaussians, few times each."""
    scale = rng.randint(3, 7)
    return [
        f"poisson(gaussian({some(rng, 0.3, 6)}), {rng.randint(1, 99)}e-{scale + rng.randint(0, 1)})"
        f"^{rng.choice((1, 1, 3, 20))}"
        for _ in range(rng.randint(2, 6))
    ]


def atoms(rng: random.Random) -> str:
    """Many steps of laws with atoms, sampled or different, or samples of fixed size."""
    kind, count = rng.randrange(5), rng.choice((3, 20, 100, 1000))
    if kind == 0:
        return f"poisson(laplace({some(rng, 0.1, 3)}), 1e-{rng.randint(1, 4)})^{count}"
    if kind == 1:
        return f"poisson(discrete_gaussian({some(rng, 0.6, 3)}), {rate(rng)})^{count}"
    if kind == 2:
        most = rng.choice((1, 5))
        many = rng.choice((70, 210, 300))
        return " * ".join(f"pure_dp({rng.randint(1, most * 10**6)}/1000000)" for _ in range(many))
    if kind == 3:
        n = rng.randint(2, 1000)
        return f"fixed_size(gaussian({some(rng, 0.5, 3)}), {rng.randint(1, n)}, {n})^{count}"
    return f"poisson(discrete_laplace({some(rng, 0.3, 3)}), {rate(rng)})^{count}"


@family(1)
def many_points(trial: Trial, rng: random.Random) -> None:
    """Each of many answers is that of the point alone."""
    text = rng.choice((rare, rare, atoms, anything, lambda r: " * ".join(different(r))))(rng)
    way, digits, count = direction_of(rng), rng.choice((2, 5, 8)), rng.choice((3, 9, 12))
    name = rng.choice(("delta", "epsilon"))
    points = [some(rng) if name == "delta" else target_point(rng) for _ in range(count)]
    answers = trial.ask(name, text, points, digits=digits, direction=way)
    for place in rng.sample(range(count), 2):
        alone = trial.ask(name, text, points[place], digits=digits_of(rng), direction=way)
        trial.overlap(answers[place], alone, f"one of many, {points[place]}, and alone")


@family(0.5)
def runs(trial: Trial, rng: random.Random) -> None:
    """Epsilon along a run is that of its beginning."""
    rows = [
        (f"poisson(gaussian({some(rng, 0.7, 3)}), {rate(rng)})", rng.randint(1, 40))
        if rng.random() < 0.9
        else (f"gaussian({some(rng, 2, 9)})", 1)
        for _ in range(rng.randint(1, 5))
    ]
    run = " * ".join(f"{step}^{count}" for step, count in rows)
    total, at, way = sum(count for _, count in rows), target_point(rng), direction_of(rng)
    steps = sorted(rng.sample(range(1, total + 1), min(total, rng.randint(1, 6))))
    answers = trial.ask("epsilon_along", run, steps, at, digits=4, direction=way)
    place = rng.randrange(len(steps))
    left, first = steps[place], []
    for step, count in rows:
        if left > 0:
            first.append(f"{step}^{min(left, count)}")
            left -= count
    alone = trial.ask("epsilon", " * ".join(first), at, digits=5, direction=way)
    trial.overlap(answers[place], alone, f"after {steps[place]} steps")


def ask_engines(trial: Trial, rng: random.Random, text: str) -> None:
    """Epsilon agrees with the lattice, and a target with its delta."""
    way = direction_of(rng)
    at, digits = f"1e-{rng.choice((1, 3, 5, 8, 15))}", rng.choice((2, 4, 8))
    found = trial.ask("epsilon", text, at, digits=digits, direction=way)
    try:
        other = trial.ask("epsilon", text, at, digits=2, direction=way, method="lattice")
        trial.overlap(found, other, "auto and lattice")
    except Refused:
        pass
    ask_back(trial, text, at, found, way)


def ask_back(trial: Trial, text: str, at: str, found: dpexact.Enclosure, way: str) -> None:
    """Delta at both ends of ``found`` is on its side of the target ``at``."""
    target = dpexact.Enclosure.exact(Fraction(at))
    if found.lower > 0:
        back = trial.ask("delta", text, fraction_text(found.lower), digits=3, direction=way)
        trial.ordered(target, back, "delta before epsilon is above the target")
    if found.upper < math.inf:
        back = trial.ask("delta", text, fraction_text(found.upper), digits=3, direction=way)
        trial.ordered(back, target, "delta from epsilon on is below the target")


@family(1)
def engines(trial: Trial, rng: random.Random) -> None:
    """What answers laws with atoms agrees with the lattice."""
    ask_engines(trial, rng, atoms(rng))


@family(0.5)
def little_noise_often(trial: Trial, rng: random.Random) -> None:
    """Many samples of so little noise that their losses are far above 1: epsilon, and back."""
    step = f"poisson(gaussian({rng.uniform(0.02, 0.3):.3g}), {rate(rng)})"
    text, at = f"{step}^{rng.choice((3, 10, 1000, 10**6))}", f"1e-{rng.randint(1, 15)}"
    way = direction_of(rng)
    ask_back(trial, text, at, trial.ask("epsilon", text, at, digits=3, direction=way), way)


@family(1)
def different_samples(trial: Trial, rng: random.Random) -> None:
    """Different rare samples agree with the lattice, and hide more where one is left out."""
    rows = different(rng)
    ask_engines(trial, rng, " * ".join(rows))
    at, way = f"{rng.randint(1, 99)}e-{rng.randint(1, 6)}", direction_of(rng)
    whole = trial.ask("delta", " * ".join(rows), at, digits=digits_of(rng), direction=way)
    fewer = trial.ask("delta", " * ".join(rows[1:]), at, digits=digits_of(rng), direction=way)
    trial.ordered(fewer, whole, "fewer samples hide less")


@family(0.5)
def in_threads(trial: Trial, rng: random.Random) -> None:
    """Threads that ask for different mechanisms all answer, and what each says alone."""
    drawn = [anything(rng) for _ in range(2)]
    asked = [
        (text, some(rng), rng.choice((2, 5, 12)), direction_of(rng))
        for text in (*drawn, rng.choice(drawn))
    ]
    answers: dict[int, Any] = {}

    def ask(i: int) -> None:
        text, at, digits, way = asked[i]
        try:
            answers[i] = dpexact.delta(text, at, digits=digits, direction=way)
        except PrecisionNotReached as error:
            answers[i] = error.best
        except Exception as error:
            answers[i] = error

    trial.calls.append(f"in threads: dpexact.delta at {asked!r}")
    workers = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(len(asked))]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join(300)
    finally:  # none goes on beside the next trial
        for worker in workers:
            worker.join(300)
    if any(worker.is_alive() for worker in workers):
        raise Failed("threads wait for each other")
    for i, (text, at, _, way) in enumerate(asked):
        if isinstance(answers[i], UnsupportedMechanism):
            raise Refused(str(answers[i]))
        if isinstance(answers[i], Exception):
            raise Failed(f"{type(answers[i]).__name__}: {answers[i]}")
        alone = trial.ask("delta", text, at, digits=5, direction=way)
        trial.overlap(answers[i], alone, f"{text} in a thread, and alone")
