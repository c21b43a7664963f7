"""prv-accountant: numerical composition with a lower bound, an estimate and an upper bound."""

from __future__ import annotations

from typing import Any, Final

#: The error in epsilon that is asked for, absolute.
EPSILON_ERROR: Final = 0.01

#: The error in delta that is asked for where delta is the question, absolute.
DELTA_ERROR: Final = 1e-10


class PrivacyRandomVariables:
    """``PRVAccountant``: the privacy loss of the remove direction."""

    name = "prv-accountant"
    distributions: tuple[str, ...] = ("prv-accountant",)
    module = "prv_accountant"
    install = '"dpexact[accountants]"'
    kinds: tuple[str, ...] = ("lower", "estimate", "upper")
    refusals: tuple[str, ...] = ("Floating point errors will dominate", "Discrete mean differs")

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        said = {"where": "prv-accountant 0.2.0, PRVAccountant", "relation": "remove"}
        if kind != "estimate":
            symbol = "$\\varepsilon$" if query["quantity"] == "epsilon" else "$\\delta$"
            sentence = f"lower bound for {symbol}, estimate for {symbol} and upper bound for"
            return said | {"sentence": f"Return {sentence} {symbol}"}
        errors = {"epsilon": EPSILON_ERROR, "delta": _delta_error(query)}
        return said | {
            "sentence": "Maximum error allowed in $\\varepsilon$. ... "
            "Maximum error allowed in $\\delta$.",
            "absolute": errors.pop(query["quantity"]),
            "at": errors.popitem()[1],
        }

    def supports(self, query: dict[str, Any]) -> bool:
        steps = query["steps"]
        sampled = any(tree["name"] == "poisson" for tree, _ in steps)
        return (
            all(_variable(tree) is not None for tree, _ in steps)
            and not (sampled and query["direction"] == "add")
            and (query["quantity"] == "delta" or 0 < query["at"] < 1)
        )

    def call(self, query: dict[str, Any]) -> str:
        written = [_variable(tree) for tree, _ in query["steps"]]
        variables = ", ".join(
            f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
            for name, arguments in filter(None, written)
        )
        times = [times for _, times in query["steps"]]
        asked = f"compute_{query['quantity']}({query['at']!r}, {times})"
        return (
            f"PRVAccountant([{variables}], max_self_compositions={times}, "
            f"eps_error={EPSILON_ERROR!r}, delta_error={_delta_error(query)!r}).{asked}"
        )

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        import prv_accountant
        from prv_accountant import privacy_random_variables

        variables = []
        for tree, _ in query["steps"]:
            name, arguments = _variable(tree) or ("", {})
            variables.append(getattr(privacy_random_variables, name)(**arguments))
        times = [times for _, times in query["steps"]]
        accountant = prv_accountant.PRVAccountant(
            prvs=variables,
            max_self_compositions=times,
            eps_error=EPSILON_ERROR,
            delta_error=_delta_error(query),
        )
        values = getattr(accountant, f"compute_{query['quantity']}")(query["at"], times)
        return [
            {"kind": kind, "value": value} for kind, value in zip(self.kinds, values, strict=True)
        ]


def _delta_error(query: dict[str, Any]) -> float:
    """A thousandth of the delta that is asked about, as the package advises."""
    return query["at"] / 1000 if query["quantity"] == "epsilon" else DELTA_ERROR


def _variable(tree: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The class of privacy random variables for a single mechanism, and its arguments."""
    match tree:
        case {
            "name": "poisson",
            "mechanism": {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity},
            "q": q,
        } if q > 0:
            arguments = {"sampling_probability": q, "noise_multiplier": sigma / sensitivity}
            return "PoissonSubsampledGaussianMechanism", arguments
        case {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity}:
            return "GaussianMechanism", {"noise_multiplier": sigma, "l2_sensitivity": sensitivity}
        case {"name": "gdp", "mu": mu} if mu > 0:
            return "GaussianMechanism", {"noise_multiplier": 1.0, "l2_sensitivity": mu}
        case {"name": "laplace", "scale": scale, "sensitivity": sensitivity}:
            return "LaplaceMechanism", {"mu": sensitivity / scale}
        case {"name": "pure_dp", "eps": eps} if eps > 0:
            return "PureDPMechanism", {"eps": eps}
        case {"name": "approx_dp", "eps": eps, "delta": delta} if eps > 0:
            return "ApproximateDPMechanism", {"epsilon": eps, "delta": delta}
    return None


ACCOUNTANT: Final = PrivacyRandomVariables()
