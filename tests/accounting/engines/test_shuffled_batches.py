"""Lower bounds of shuffled batches: below what is true, and near the event they rest on."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from command_line import invoke as run
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact.accounting.engines import shuffled_batches as room
from dpexact.audits.sentences import claim_of
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational

normal = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2)


def largest(mean: float, sigma: float, t: int, ends: np.ndarray) -> np.ndarray:
    """Probabilities of the intervals of the largest coordinate, from the formula for its law."""
    below = normal((ends - mean) / sigma) * normal(ends / sigma) ** (t - 1)
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def composed(sigma: float, t: int, epochs: int, epsilon: float, *, add: bool) -> float:
    """Delta of the largest coordinates of the epochs, from fine intervals and all products."""
    ends = np.linspace(-5 * sigma, 2 + 7 * sigma, 4000 if epochs == 1 else 1200)
    p, q = (largest(mean, sigma, t, ends) for mean in ((1, 2) if add else (2, 1)))
    for _ in range(epochs - 1):
        p = np.outer(p, largest(1 if add else 2, sigma, t, ends)).ravel()
        q = np.outer(q, largest(2 if add else 1, sigma, t, ends)).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.slow
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("sigma", "t", "k", "epochs", "epsilon"),
    [(0.8, 100, 4, 1, 1.0), (0.5, 7, 6, 1, 0.0), (1.0, 9, 3, 2, 0.5), (2.0, 5, 2, 1, -0.5)],
)
def test_the_largest_output_of_several_steps(sigma, t, k, epochs, epsilon, add):
    ends = np.linspace(-5 * sigma, 1 + 7 * sigma, 4000 if epochs == 1 else 1200)
    once = []
    for mean in (0, 1) if add else (1, 0):
        below = normal((ends - mean) / sigma) ** k * normal(ends / sigma) ** (t - k)
        once.append(np.diff(np.concatenate([[0.0], below, [1.0]])))
    p, q = once if epochs == 1 else (np.outer(law, law).ravel() for law in once)
    truth = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
    found = room.LargestOutput(rational(Fraction(sigma)), t, k, epochs, add=add)
    lower = float(found.delta(rational(Fraction(epsilon)), 6).lower)
    assert 0.97 * truth <= lower <= truth * 1.0001
    run = dpexact.allocation(dpexact.gaussian(sigma), t, k) ** epochs
    asked = dpexact.delta(run, epsilon, 6, "add" if add else "remove")
    assert lower * 0.99999 <= asked.at_least <= asked.upper


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("sigma", "t", "epochs", "epsilon"),
    [(0.8, 100, 1, 1.0), (0.5, 7, 1, 0.0), (1.0, 3, 2, 1.5), (0.7, 50, 2, 3.0), (2.0, 5, 1, -0.5)],
)
def test_against_fine_intervals(sigma, t, epochs, epsilon, add):
    """The law of the same event, without lattice, rounding or powers of polynomials."""
    found = dpexact.delta(
        dpexact.shuffled_batches(dpexact.gaussian(sigma), t) ** epochs,
        epsilon,
        digits=6,
        direction="add" if add else "remove",
    )
    assert found.bound == "lower"
    truth = composed(sigma, t, epochs, epsilon, add=add)
    assert 0.98 * truth < float(found.lower) <= truth * (1 + 1e-6)


@pytest.mark.slow
def test_against_the_whole_pair():
    """Two steps: the mixtures themselves, by quadrature in the plane."""
    sigma, epsilon = 0.9, 0.8
    x = np.linspace(-8, 11, 3001)
    scale = sigma * math.sqrt(2 * math.pi)
    zero, one, two = (np.exp(-(((x - m) / sigma) ** 2) / 2) / scale for m in range(3))
    p = (np.outer(two, zero) + np.outer(zero, two)) / 2
    q = (np.outer(one, zero) + np.outer(zero, one)) / 2
    truth = float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) * (x[1] - x[0]) ** 2
    found = dpexact.delta(
        dpexact.shuffled_batches(dpexact.gaussian(sigma), 2), epsilon, 6, "remove"
    )
    assert 0.9 * truth < float(found.lower) <= truth + 1e-6


@pytest.mark.slow
@settings(max_examples=scaled(20), deadline=None)
@given(
    st.fractions(Fraction(1, 5), 5, max_denominator=100),
    st.integers(2, 2000),
    st.integers(1, 30),
    st.fractions(-2, 20, max_denominator=100),
    st.sampled_from(["remove", "add", "both"]),
)
def test_never_above_any_order(sigma, t, epochs, epsilon, direction):
    """What bounds every order bounds a random one."""
    step = dpexact.gaussian(sigma)
    below = dpexact.delta(dpexact.shuffled_batches(step, t) ** epochs, epsilon, 4, direction)
    assert below.lower <= dpexact.delta(step**epochs, epsilon, 12).upper


@pytest.mark.slow
def test_an_order_that_is_kept_is_less_noise():
    kept = dpexact.shuffled_batches(dpexact.gaussian("0.8") ** 4, 20)
    assert dpexact.delta(kept, 1, 8) == dpexact.delta(
        dpexact.shuffled_batches(dpexact.gaussian("0.4"), 20), 1, 8
    )


def test_one_batch_is_no_shuffle():
    one = dpexact.epsilon(dpexact.shuffled_batches(dpexact.gaussian(2), 1) ** 3, "1e-5")
    assert one == dpexact.epsilon(dpexact.gaussian(2) ** 3, "1e-5")
    assert one.bound == "exact"


@pytest.mark.parametrize("sigma", ["1e-300", "1e-9", "1e300"])
def test_extreme_noise_is_answered(sigma):
    text = f"shuffled_batches(gaussian({sigma}), 1000000000)^1000"
    found = dpexact.delta(text, 1, 3)
    assert found.upper <= 1
    assert dpexact.delta(text, -1, 3).lower >= 1 - Fraction(3679, 10000)


@pytest.mark.slow
def test_losses_and_probabilities_are_rounded_down():
    profile = room.ShuffledBatches(rational(1), 10, 3, add=False)
    one = profile._rounded()
    with room.precision(300):
        step, offset = room.arb(profile._step), room.arb(profile._offset)
        left = list(profile._intervals)
        for j, weight in enumerate(one.weights):
            low = (one.first + j + offset) * step
            inside = [x for x in left if low <= x[1] and x[1] < low + step]
            left = [x for x in left if not (low <= x[1] and x[1] < low + step)]
            total = sum((p for p, _ in inside), room.arb(0)) * room.arb(2) ** room.BITS
            assert weight <= total
        # what is left weighs less than the smallest unit
        assert all(p < room.arb(2) ** -room.BITS for p, _ in left)


@pytest.mark.parametrize(
    "text",
    [
        "shuffled_batches(gaussian(1), 3) * gaussian(1)",
        "poisson(shuffled_batches(gaussian(1), 3), 1/2)",
        "shuffled_batches(laplace(1), 3)",
        "shuffled_batches(poisson(gaussian(1), 1/2), 3)",
        "group(shuffled_batches(gaussian(1), 3), 2)",
        "mix(1/2: shuffled_batches(gaussian(1), 3), 1/2: gaussian(1))",
    ],
)
def test_what_is_refused(text):
    with pytest.raises(UnsupportedMechanism, match="shuffled"):
        dpexact.epsilon(text, "1e-5")


def test_nothing_promises_by_a_lower_bound():
    with pytest.raises(UnsupportedMechanism, match="from below"):
        dpexact.calibrate("shuffled_batches(gaussian(?), 10)", 1, "1e-5")
    with pytest.raises(UnsupportedMechanism, match="from below"):
        dpexact.calibrate("shuffled_batches(gaussian(1), 10)^?", 1, "1e-5")
    with pytest.raises(UnsupportedMechanism, match="from below"):
        dpexact.renyi("shuffled_batches(gaussian(1), 10)", 2)
    shuffled = ("--dataset", "100", "--batch", "10", "--epochs", "2", "--sampling", "shuffled")
    assert run("dpsgd", *shuffled, "--sigma", "1", "--delta", "1e-5", "--statement").exit_code == 2
    asked = run("dpsgd", *shuffled, "--target-epsilon", "1", "--delta", "1e-5")
    assert asked.exit_code == 2


@pytest.mark.slow
def test_the_training_run():
    shuffled = ("--dataset", "100", "--batch", "10", "--epochs", "2", "--sampling", "shuffled")
    said = run("dpsgd", *shuffled, "--sigma", "1", "--delta", "1e-5")
    assert said.output.startswith("epsilon >= ")
    assert "No upper bound is known" in said.output
    record = json.loads(run("dpsgd", *shuffled, "--sigma", "1", "--delta", "1e-5", "--json").output)
    assert record["mechanism"] == "shuffled_batches(gaussian(1), 10)^2"
    assert record["bound"] == "lower"
    uneven = ("--dataset", "101", "--batch", "10", "--epochs", "2", "--sampling", "shuffled")
    refused = run("dpsgd", *uneven, "--sigma", "1", "--delta", "1e-5")
    assert (refused.exit_code, "does not divide" in refused.output) == (2, True)


@pytest.mark.parametrize(
    ("claimed", "verdict"), [("2.4", "unsound"), ("10", "unsound"), ("30", "undecided")]
)
@pytest.mark.slow
def test_claims_are_judged_from_below(claimed, verdict):
    text = f"epsilon <= {claimed} of shuffled_batches(gaussian(1.1), 240)^60 at delta 1e-5"
    (finding,) = dpexact.audit([claim_of(text)]).findings
    assert finding.verdict == verdict
