"""Tumult Core: measurements whose privacy functions are exact, of pure privacy."""

from __future__ import annotations

from typing import Any, Final

#: Composition lists every measurement.
_MOST_MEASUREMENTS: Final = 10_000


class TumultCore:
    """``Composition`` of Laplace and geometric noise: an upper bound of epsilon at any delta."""

    name = "tmlt-core"
    distributions: tuple[str, ...] = ("tmlt.core",)
    module = "tmlt.core.measurements.composition"
    install = "tmlt.core"
    kinds: tuple[str, ...] = ("upper",)
    quantities: tuple[str, ...] = ("epsilon",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "Returns the smallest d_out satisfied by the measurement.",
            "where": "tmlt.core 0.20.0, Measurement.privacy_function",
            "relation": "inputs at the distance of the sensitivity",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        steps = query["steps"]
        return (
            all(tree["name"] in _WRITTEN for tree, _ in steps)
            and len({tree["name"] for tree, _ in steps}) == 1
            and len({tree["sensitivity"] for tree, _ in steps}) == 1
            and sum(times for _, times in steps) <= _MOST_MEASUREMENTS
        )

    def call(self, query: dict[str, Any]) -> str:
        steps = query["steps"]
        listed = " + ".join(
            f"[{_WRITTEN[tree['name']].format(tree['scale'])}] * {times}" for tree, times in steps
        )
        return f"Composition({listed}).privacy_function({steps[0][0]['sensitivity']!r})"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        from fractions import Fraction

        from tmlt.core.domains.numpy_domains import NumpyFloatDomain
        from tmlt.core.measurements.composition import Composition
        from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise, AddLaplaceNoise

        listed = []
        for tree, times in query["steps"]:
            scale = Fraction(tree["scale"])
            if tree["name"] == "laplace":
                noise = AddLaplaceNoise(input_domain=NumpyFloatDomain(), scale=scale)
            else:
                noise = AddGeometricNoise(alpha=scale)
            listed += [noise] * times
        exact = Fraction(query["steps"][0][0]["sensitivity"])
        distance = int(exact) if exact.denominator == 1 else exact
        value = Composition(listed).privacy_function(distance).to_float(round_up=True)
        return [{"kind": "upper", "value": value}]


_WRITTEN: Final = {
    "laplace": "AddLaplaceNoise(NumpyFloatDomain(), {!r})",
    "discrete_laplace": "AddGeometricNoise({!r})",
}

ACCOUNTANT: Final = TumultCore()
