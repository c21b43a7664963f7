"""Fourier Accountant: the privacy loss distribution of sampled Gaussians on its default grid.

An adapter imports nothing of dpexact, and the audited package only inside its functions, so that it
can be listed where the package is absent and run by another interpreter.
"""

from __future__ import annotations

from typing import Any, Final

_QUESTIONS: Final = {
    "epsilon": ("get_epsilon_R", "target_delta"),
    "delta": ("get_delta_R", "target_eps"),
}


class FourierAccountant:
    """``get_epsilon_R`` and ``get_delta_R``: estimates, of the direction remove."""

    name = "fourier-accountant"
    distributions: tuple[str, ...] = ("fourier-accountant",)
    module = "fourier_accountant"
    install = "fourier-accountant"
    kinds: tuple[str, ...] = ("estimate",)
    refusals: tuple[str, ...] = (
        "Epsilon out of [-L,L] window",
        "This can happen if sigma is chosen too small",
    )

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "Note that this function relies on numerical approximations, which are "
            "influenced by choice of parameters nx and L.",
            "where": f"fourier-accountant 0.12.11, {_QUESTIONS[query['quantity']][0]}",
            "relation": "remove/add",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        return query["direction"] != "add" and _arguments(query["steps"]) is not None

    def call(self, query: dict[str, Any]) -> str:
        function, argument = _QUESTIONS[query["quantity"]]
        sigmas, rates, times = _arguments(query["steps"]) or ([], [], [])
        return (
            f"{function}({argument}={query['at']!r}, sigma=np.array({sigmas!r}), "
            f"q=np.array({rates!r}), ncomp=np.array({times!r}))"
        )

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        import fourier_accountant
        import numpy as np

        function, argument = _QUESTIONS[query["quantity"]]
        sigmas, rates, times = map(np.array, _arguments(query["steps"]) or ([], [], []))
        compute = getattr(fourier_accountant, function)
        value = compute(**{argument: query["at"]}, sigma=sigmas, q=rates, ncomp=times)
        return [{"kind": "estimate", "value": float(value)}]


def _arguments(steps: list[list[Any]]) -> tuple[list[float], list[float], list[int]] | None:
    """Noise, sampling rate and number of each step, if all are Gaussians sampled below rate 1."""
    sigmas, rates, numbers = [], [], []
    for tree, times in steps:
        match tree:
            case {
                "name": "poisson",
                "mechanism": {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity},
                "q": q,
            } if 0 < q < 1:
                sigmas.append(sigma / sensitivity)
                rates.append(q)
                numbers.append(times)
            case _:
                return None
    return sigmas, rates, numbers


ACCOUNTANT: Final = FourierAccountant()
