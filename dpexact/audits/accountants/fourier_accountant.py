"""Fourier Accountant: the privacy loss distribution of sampled Gaussians on its default grid."""

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
    install = '"dpexact[accountants]"'
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
        given = {argument: query["at"], **(_arguments(query["steps"]) or {})}
        return f"{function}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        import fourier_accountant

        function, argument = _QUESTIONS[query["quantity"]]
        given = {argument: query["at"], **(_arguments(query["steps"]) or {})}
        return [
            {"kind": "estimate", "value": float(getattr(fourier_accountant, function)(**given))}
        ]


def _arguments(steps: list[list[Any]]) -> dict[str, Any] | None:
    """Noise, sampling rate and number of a Gaussian that is sampled below rate 1, repeated."""
    match steps:
        case [
            [
                {
                    "name": "poisson",
                    "mechanism": {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity},
                    "q": q,
                },
                times,
            ]
        ] if 0 < q < 1:
            return {"sigma": sigma / sensitivity, "q": q, "ncomp": times}
    return None


ACCOUNTANT: Final = FourierAccountant()
