"""Samples of Laplace and discrete Gaussian noise, beside dp-accounting.

Prints CPU seconds of both, the ratio, and by how much the float accountant's delta exceeds.
"""

from __future__ import annotations

import time
from fractions import Fraction

from dp_accounting.pld import privacy_loss_distribution as pld

import dpexact

_Q = 0.01


def _laplace(steps: int, epsilon: float) -> float:
    made = pld.from_laplace_mechanism(1.0, sampling_prob=_Q, value_discretization_interval=1e-4)
    return float(made.self_compose(steps).get_delta_for_epsilon(epsilon))


def _discrete_gaussian(steps: int, epsilon: float) -> float:
    made = pld.from_discrete_gaussian_mechanism(
        1.0, sampling_prob=_Q, value_discretization_interval=1e-4
    )
    return float(made.self_compose(steps).get_delta_for_epsilon(epsilon))


def main() -> None:
    """One row a run."""
    for name, peer in (("laplace", _laplace), ("discrete_gaussian", _discrete_gaussian)):
        for steps in (2000, 10_000):
            start = time.process_time()
            ours = dpexact.delta(f"poisson({name}(1), 0.01)^{steps}", 1, 6)
            middle = time.process_time()
            theirs = peer(steps, 1.0)
            end = time.process_time()
            over = float(Fraction(theirs) / Fraction(ours.upper)) - 1
            taken, others = middle - start, end - middle
            print(
                f"{name}(1) ^ {steps}: {ours} {taken:.2f} s; dp-accounting {others:.2f} s "
                f"({others / taken:.1f} times), {over:+.1e}"
            )


if __name__ == "__main__":
    main()
