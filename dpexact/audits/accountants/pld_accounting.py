"""PLD_accounting: its random allocation of one step in one, which is a repeated Gaussian."""

from __future__ import annotations

from typing import Any, Final


class RandomAllocation:
    """``gaussian_allocation_epsilon_range``: an upper and a lower bound of epsilon."""

    name = "pld-accounting"
    distributions: tuple[str, ...] = ("PLD_accounting", "dp-accounting")
    module = "PLD_accounting"
    install = '"dpexact[accountants]"'
    kinds: tuple[str, ...] = ("upper", "lower")
    quantities: tuple[str, ...] = ("epsilon",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "Compute epsilon bounds for Gaussian random-allocation (adaptive "
            "refinement). ... A tuple ``(upper_bound, lower_bound)``.",
            "where": "PLD_accounting 2.0, gaussian_allocation_epsilon_range",
            "relation": "add/remove",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        return 0 < query["at"] < 1 and _arguments(query) is not None

    def call(self, query: dict[str, Any]) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in (_arguments(query) or {}).items())
        return f"gaussian_allocation_epsilon_range({given})"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        from PLD_accounting import gaussian_allocation_epsilon_range

        bounds = gaussian_allocation_epsilon_range(**(_arguments(query) or {}))
        return [
            {"kind": kind, "value": float(bound)}
            for kind, bound in zip(self.kinds, bounds, strict=True)
        ]


def _arguments(query: dict[str, Any]) -> dict[str, Any] | None:
    """One step of one, so that each epoch is one run of the Gaussian."""
    match query["steps"]:
        case [[{"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity}, times]]:
            noise = sigma / sensitivity
        case [[{"name": "gdp", "mu": mu}, times]] if mu > 0:
            noise = 1.0 / mu
        case _:
            return None
    return {
        "delta": query["at"],
        "sigma": noise,
        "num_steps": 1,
        "num_selected": 1,
        "num_epochs": times,
    }


ACCOUNTANT: Final = RandomAllocation()
