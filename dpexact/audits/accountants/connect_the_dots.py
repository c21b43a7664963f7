"""gdpnum and riskcal: their ``CTDAccountant`` for sampled Gaussians, on dp-accounting."""

from __future__ import annotations

from typing import Any, Final


class ConnectTheDots:
    """``CTDAccountant``: claims upper bounds for add/remove neighbours, so in each direction.

    Its trade-off curve is a lower bound of the type II error.
    """

    install = '"dpexact[accountants]"'
    kinds: tuple[str, ...] = ("upper",)
    quantities: tuple[str, ...] = ("epsilon", "beta")

    def __init__(self, name: str, module: str, promises: dict[str, tuple[str, str]]) -> None:
        self.name, self.module, self._promises = name, module, promises
        self.distributions: tuple[str, ...] = (name, "dp-accounting")

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        sentence, place = self._promises[query["quantity"]]
        return {"sentence": sentence, "where": place, "relation": "add/remove"}

    def supports(self, query: dict[str, Any]) -> bool:
        return _history(query["steps"]) is not None

    def call(self, query: dict[str, Any]) -> str:
        history = _history(query["steps"])
        return f"CTDAccountant(), history = {history!r}, {_asked(query)}"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        import importlib

        accountant = importlib.import_module(self.module).CTDAccountant()
        accountant.history = _history(query["steps"])
        if query["quantity"] == "epsilon":
            return [{"kind": "upper", "value": accountant.get_epsilon(delta=query["at"])}]
        return [{"kind": "lower", "value": float(accountant.get_beta(alpha=query["at"]))}]


def _asked(query: dict[str, Any]) -> str:
    argument = "delta" if query["quantity"] == "epsilon" else "alpha"
    return f"get_{query['quantity']}({argument}={query['at']!r})"


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


GDPNUM: Final = ConnectTheDots(
    "gdpnum",
    "gdpnum",
    {
        "epsilon": (
            "Opacus-compatible Connect the Dots accountant which can return numeric GDP parameter.",
            "gdpnum 0.1.2, CTDAccountant",
        ),
        "beta": (
            "Evaluate the symmetrized tradeoff function at given points.",
            "gdpnum 0.1.2, PLDConverter.get_beta",
        ),
    },
)
RISKCAL: Final = ConnectTheDots(
    "riskcal",
    "riskcal.accountants",
    {
        "epsilon": (
            "Epsilon value for (epsilon, delta)-DP.",
            "riskcal 1.5.1, CTDAccountant.get_epsilon",
        ),
        "beta": (
            "Get FNR (beta) for given FPR (alpha). ... | **Trade-off curve (beta/alpha)** | "
            "Min FNR at FPR",
            "riskcal 1.5.1, CTDAccountant.get_beta, and the description of the package",
        ),
    },
)
