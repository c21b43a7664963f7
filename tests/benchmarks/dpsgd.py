"""Side by side in one run: certified answers against float accountants on the same machine.

Run ``python tests/benchmarks/dpsgd.py``. Times are the best of three; a ratio below 1 means that
dpexact is faster. Accountants that are not installed are named and left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

import dpexact

#: ``(sigma, q as text, steps, delta)``.
ROWS = [
    ("1", "1/100", 10_000, "1e-6"),
    ("1.3", "256/60000", 3_515, "1e-5"),
    ("1.1", "256/60000", 14_062, "1e-5"),
    ("0.7", "256/60000", 10_546, "1e-5"),
    ("1", "1/100", 1_000, "1e-6"),
    ("1", "1/100", 300, "1e-6"),
    ("2", "1/20", 5_000, "1e-8"),
    ("0.6", "1e-4", 100_000, "1e-8"),
]


def best_of_three(ask: Callable[[], Any]) -> tuple[float, Any]:
    times = []
    for _ in range(3):
        started = time.perf_counter()
        answer = ask()
        times.append(time.perf_counter() - started)
    return min(times), answer


def with_pld(sigma: float, q: float, steps: int, delta: float) -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld

    single = pld.from_gaussian_mechanism(sigma, sampling_prob=q, use_connect_dots=True)
    return float(single.self_compose(steps).get_epsilon_for_delta(delta))


def with_rdp(sigma: float, q: float, steps: int, delta: float) -> float:
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma))
    return float(RdpAccountant().compose(event, steps).get_epsilon(delta))


def with_prv(sigma: float, q: float, steps: int, delta: float) -> float:
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    accountant = PRVAccountant(
        prvs=PoissonSubsampledGaussianMechanism(q, sigma),
        max_self_compositions=steps,
        eps_error=0.01,
        delta_error=delta / 1000,
    )
    return float(accountant.compute_epsilon(delta, [steps])[2])


def with_opacus(sigma: float, q: float, steps: int, delta: float) -> float:
    from opacus.accountants import RDPAccountant

    accountant = RDPAccountant()
    accountant.history = [(sigma, q, steps)]
    return float(accountant.get_epsilon(delta))


PEERS = {
    "dp-accounting PLD": with_pld,
    "dp-accounting RDP": with_rdp,
    "prv-accountant": with_prv,
    "opacus RDP": with_opacus,
}


def main() -> None:
    console = Console(width=150)
    absent = []
    for name, ask in list(PEERS.items()):
        try:
            ask(1.0, 0.01, 10, 1e-5)
        except ImportError as error:
            absent.append(f"{name} ({error})")
            del PEERS[name]
    table = Table(
        title="epsilon(delta), both directions; ms, and ratio dpexact at 15 digits / peer"
    )
    for column in ("sigma", "q", "T", "delta", "15 digits", "30 digits", "one delta", *PEERS):
        table.add_column(column, justify="right")
    for sigma, q, steps, delta in ROWS:
        mechanism = dpexact.poisson(dpexact.gaussian(sigma), q) ** steps
        coarse, epsilon = best_of_three(lambda m=mechanism, d=delta: dpexact.epsilon(m, d, 15))
        fine, _ = best_of_three(lambda m=mechanism, d=delta: dpexact.epsilon(m, d, 30))
        near = str(round(float(epsilon.upper), 3))
        single, _ = best_of_three(lambda m=mechanism, e=near: dpexact.delta(m, e, 30))
        cells = [f"{1e3 * t:.1f}" for t in (coarse, fine, single)]
        rate = float(dpexact.gaussian(q).sigma.fraction)
        for ask in PEERS.values():
            spent, claimed = best_of_three(
                lambda a=ask, s=sigma, r=rate, t=steps, d=delta: a(float(s), r, t, float(d))
            )
            error = claimed / float(epsilon.upper) - 1
            cells.append(f"{1e3 * spent:.0f} ({coarse / spent:.2g}; error {error:+.1e})")
        table.add_row(sigma, q, str(steps), delta, *cells)
    console.print(table)
    points = range(5, 5005, 5)
    step = dpexact.poisson(dpexact.gaussian(1), "1/100")
    one, _ = best_of_three(lambda: dpexact.epsilon(step**5000, "1e-6", 6))
    curve, _ = best_of_three(lambda: dpexact.epsilon_curve(step, points, "1e-6", 6))
    console.print(f"epsilon_curve of 1,000 points: {1e3 * curve:.0f} ms, {curve / one:.0f} x one")
    huge, _ = best_of_three(lambda: dpexact.delta("pure_dp(1e-6)^1000000000000", 1, 30))
    console.print(f"optimal composition, k = 10^12, 30 digits: {1e3 * huge:.0f} ms")
    for name in absent:
        console.print(f"not installed: {name}")


if __name__ == "__main__":
    main()
