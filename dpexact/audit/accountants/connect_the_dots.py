"""gdpnum and riskcal: their ``CTDAccountant`` for sampled Gaussians, on dp-accounting.

An adapter imports nothing of dpexact, and the audited package only inside its functions, so that it
can be listed where the package is absent and run by another interpreter.
"""

from __future__ import annotations

from typing import Any, Final


class ConnectTheDots:
    """``CTDAccountant``: claims upper bounds for add/remove neighbours, so in each direction."""

    install = '"dpexact[accountants]"'
    kinds: tuple[str, ...] = ("upper",)

    def __init__(self, name: str, module: str) -> None:
        self.name, self.module = name, module
        self.distributions: tuple[str, ...] = (name, "dp-accounting")

    def supports(self, query: dict[str, Any]) -> bool:
        # of deltas it has only the one at epsilon 0, the advantage of an attacker
        asked = query["quantity"] == "epsilon" or query["at"] == 0
        return asked and _history(query["steps"]) is not None

    def call(self, query: dict[str, Any]) -> str:
        history = _history(query["steps"])
        return f"CTDAccountant(), history = {history!r}, {_asked(query)}"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        import importlib

        accountant = importlib.import_module(self.module).CTDAccountant()
        accountant.history = _history(query["steps"])
        if query["quantity"] == "epsilon":
            value = accountant.get_epsilon(delta=query["at"])
        else:
            value = accountant.get_advantage()
        return [{"kind": "upper", "value": value}]


def _asked(query: dict[str, Any]) -> str:
    if query["quantity"] == "epsilon":
        return f"get_epsilon(delta={query['at']!r})"
    return "get_advantage()"


def _history(steps: list[list[Any]]) -> list[tuple[float, float, int]] | None:
    """The steps as (noise multiplier, sample rate, number), if all are sampled Gaussians."""
    history = []
    for tree, times in steps:
        match tree:
            case {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity}:
                history.append((sigma / sensitivity, 1.0, times))
            case {
                "name": "poisson",
                "mechanism": {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity},
                "q": q,
            } if q > 0:
                history.append((sigma / sensitivity, q, times))
            case _:
                return None
    return history


GDPNUM: Final = ConnectTheDots("gdpnum", "gdpnum")
RISKCAL: Final = ConnectTheDots("riskcal", "riskcal.accountants")
