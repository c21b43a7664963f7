"""TensorFlow Privacy: its central-limit accountant, a file that needs no TensorFlow."""

from __future__ import annotations

from typing import Any, Final

_FILE: Final = "tensorflow_privacy/privacy/analysis/gdp_accountant.py"


class CentralLimit:
    """``gdp_accountant.compute_eps_poisson``: an estimate of epsilon at delta."""

    name = "tensorflow-privacy-gdp"
    distributions: tuple[str, ...] = ("tensorflow-privacy",)
    module = "scipy.stats"
    install = "--no-deps tensorflow-privacy scipy"
    kinds: tuple[str, ...] = ("estimate",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "Applies the Dual and Central Limit Theorem (CLT) to estimate privacy "
            "budget of an iterated subsampled Gaussian Mechanism",
            "where": "tensorflow-privacy 0.9.0, privacy/analysis/gdp_accountant.py",
            "relation": "add/remove",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        asked = query["quantity"] == "epsilon" and query["direction"] != "add"
        return asked and _arguments(query) is not None

    def call(self, query: dict[str, Any]) -> str:
        arguments = _arguments(query) or {}
        written = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        return f"gdp_accountant.compute_eps_poisson({written})"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        import runpy
        from importlib import metadata

        file = metadata.distribution("tensorflow-privacy").locate_file(_FILE)
        compute = runpy.run_path(str(file))["compute_eps_poisson"]
        return [{"kind": "estimate", "value": compute(**(_arguments(query) or {}))}]


def _arguments(query: dict[str, Any]) -> dict[str, Any] | None:
    """One table of one record, a batch of ``q`` records, and as many epochs as make the steps."""
    if len(query["steps"]) > 1:
        return None
    [[tree, times]] = query["steps"]
    match tree:
        case {
            "name": "poisson",
            "mechanism": {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity},
            "q": q,
        } if q > 0:
            noise, rate = sigma / sensitivity, q
        case {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity}:
            noise, rate = sigma / sensitivity, 1.0
        case _:
            return None
    return {
        "epoch": times * rate,
        "noise_multi": noise,
        "n": 1,
        "batch_size": rate,
        "delta": query["at"],
    }


ACCOUNTANT: Final = CentralLimit()
