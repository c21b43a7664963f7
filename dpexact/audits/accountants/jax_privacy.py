"""jax-privacy: its accountant of DP-SGD, on the privacy loss distributions of dp-accounting."""

from __future__ import annotations

from typing import Any, Final


class DpsgdTraining:
    """``DpsgdTrainingAccountant``: an upper bound of epsilon for add/remove neighbours."""

    name = "jax-privacy"
    distributions: tuple[str, ...] = ("jax-privacy", "dp-accounting")
    module = "jax_privacy.accounting.analysis"
    install = "jax-privacy"
    kinds: tuple[str, ...] = ("upper",)
    quantities: tuple[str, ...] = ("epsilon",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "Compute DP epsilon given the `dp_params`.",
            "where": "jax-privacy 2.0.0, DpTrainingAccountant.compute_epsilon",
            "relation": "add/remove",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        return _arguments(query) is not None

    def call(self, query: dict[str, Any]) -> str:
        given = dict(_arguments(query) or {})
        times = given.pop("num_updates", 0)
        written = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return (
            "DpsgdTrainingAccountant(PldAccountantConfig())"
            f".compute_epsilon({times}, DpParams({written}))"
        )

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        from jax_privacy.accounting import accountants, analysis

        given = dict(_arguments(query) or {})
        times = given.pop("num_updates")
        accountant = analysis.DpsgdTrainingAccountant(accountants.PldAccountantConfig())
        value = accountant.compute_epsilon(times, analysis.DpParams(**given))
        return [{"kind": "upper", "value": float(value)}]


def _arguments(query: dict[str, Any]) -> dict[str, Any] | None:
    """One Gaussian or sample of it, repeated: the rate is a batch of a dataset, exactly."""
    match query["steps"]:
        case [[{"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity}, times]]:
            batch, records = 1, 1
        case [
            [
                {
                    "name": "poisson",
                    "mechanism": {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity},
                    "q": q,
                },
                times,
            ]
        ] if q > 0:
            batch, records = float(q).as_integer_ratio()
        case _:
            return None
    return {
        "num_updates": times,
        "noise_multipliers": sigma / sensitivity,
        "num_samples": records,
        "delta": query["at"],
        "batch_size": batch,
    }


ACCOUNTANT: Final = DpsgdTraining()
