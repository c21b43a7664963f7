"""SmartNoise SQL: the odometer that its private reader keeps."""

from __future__ import annotations

from typing import Any, Final

#: The odometer lists every step.
_MOST_STEPS: Final = 100_000


class Odometer:
    """``OdometerHeterogeneous``: an upper bound of epsilon for guarantees without delta.

    Of these the delta of the answer is the tolerance of the odometer, which is set to the delta
    that is asked about.
    """

    name = "smartnoise-sql"
    distributions: tuple[str, ...] = ("smartnoise-sql",)
    module = "snsql.sql.odometer"
    install = "smartnoise-sql"
    kinds: tuple[str, ...] = ("upper",)
    quantities: tuple[str, ...] = ("epsilon",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "Implements k-folds heterogeneous composition from Kairouz, et al "
            "Theorem 3.5",
            "where": "smartnoise-sql 1.0.10, OdometerHeterogeneous",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        steps = query["steps"]
        pure = all(tree["name"] == "pure_dp" for tree, _ in steps)
        return pure and 0 < query["at"] < 1 and sum(times for _, times in steps) <= _MOST_STEPS

    def call(self, query: dict[str, Any]) -> str:
        spent = "; ".join(
            f"{times} times spend(Privacy(epsilon={tree['eps']!r}, delta=0.0))"
            for tree, times in query["steps"]
        )
        return f"OdometerHeterogeneous(None) with tol = {query['at']!r}; {spent}; spent"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        from snsql.sql.odometer import OdometerHeterogeneous
        from snsql.sql.privacy import Privacy

        odometer = OdometerHeterogeneous(None)
        odometer.tol = query["at"]
        for tree, times in query["steps"]:
            step = Privacy(epsilon=tree["eps"], delta=0.0)
            for _ in range(times):
                odometer.spend(step)
        return [{"kind": "upper", "value": float(odometer.spent[0])}]


ACCOUNTANT: Final = Odometer()
