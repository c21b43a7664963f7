"""diffprivlib: its ``BudgetAccountant``, which composes (epsilon, delta) guarantees."""

from __future__ import annotations

import math
from typing import Any, Final

#: The accountant keeps a list with every spend.
_MOST_SPENDS: Final = 100_000


class BudgetAccountant:
    """``BudgetAccountant``: claims upper bounds, with whatever delta is left as its slack."""

    name = "diffprivlib"
    distributions: tuple[str, ...] = ("diffprivlib",)
    module = "diffprivlib"
    install = '"dpexact[accountants]"'
    kinds: tuple[str, ...] = ("upper",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "Returns the total current privacy spend.",
            "where": "diffprivlib 0.6.6, BudgetAccountant.total",
            "relation": "that of the spends",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        names = {tree["name"] for tree, _ in query["steps"]}
        number = sum(times for _, times in query["steps"])
        return (
            query["quantity"] == "epsilon"
            and names <= {"pure_dp", "approx_dp"}
            and number <= _MOST_SPENDS
            and all(tree["eps"] > 0 or tree.get("delta", 0) > 0 for tree, _ in query["steps"])
        )

    def call(self, query: dict[str, Any]) -> str:
        spends = " + ".join(
            f"[({tree['eps']!r}, {tree.get('delta', 0)!r})] * {times}"
            for tree, times in query["steps"]
        )
        return f"BudgetAccountant().total({spends}, slack={_slack(query)!r}).epsilon"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        from diffprivlib import BudgetAccountant as Package

        spends = [
            (tree["eps"], tree.get("delta", 0))
            for tree, times in query["steps"]
            for _ in range(times)
        ]
        slack = _slack(query)
        if slack < 0:
            return [{"kind": "upper", "value": math.inf}]
        epsilon, delta = Package().total(spends, slack)
        # it claims this epsilon at its own total delta, and so at every larger one
        return [{"kind": "upper", "value": epsilon if delta <= query["at"] else math.inf}]


def _slack(query: dict[str, Any]) -> float:
    """What is left of delta after all steps, a hair less; negative if nothing is."""
    deltas = [(tree["delta"], times) for tree, times in query["steps"] if tree.get("delta", 0) > 0]
    if not deltas or query["at"] >= 1:
        return float(query["at"])
    if any(delta >= 1 for delta, _ in deltas):
        return -1.0
    kept = math.fsum(times * math.log1p(-delta) for delta, times in deltas)
    return -math.expm1(math.log1p(-query["at"]) - kept) * (1 - 2**-20)


ACCOUNTANT: Final = BudgetAccountant()
