"""dp-accounting, Rényi accounting on the default orders."""

from __future__ import annotations

from typing import Any, Final

_QUESTIONS: Final = {"epsilon": "get_epsilon", "delta": "get_delta"}


class RenyiAccountant:
    """``RdpAccountant``: claims upper bounds, valid in both directions of add/remove neighbours."""

    name = "dp-accounting-rdp"
    distributions: tuple[str, ...] = ("dp-accounting",)
    module = "dp_accounting.rdp"
    install = '"dpexact[accountants]"'
    kinds: tuple[str, ...] = ("upper",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": f"Gets the current {query['quantity']}.",
            "where": f"dp-accounting 0.6.0, PrivacyAccountant.get_{query['quantity']}",
            "relation": "add/remove",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        return _supported(query["mechanism"])

    def call(self, query: dict[str, Any]) -> str:
        event = _event(query["mechanism"])
        return (
            f"RdpAccountant().compose({event!r}).{_QUESTIONS[query['quantity']]}({query['at']!r})"
        )

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        from dp_accounting.rdp import RdpAccountant

        accountant = RdpAccountant().compose(_event(query["mechanism"]))
        value = getattr(accountant, _QUESTIONS[query["quantity"]])(query["at"])
        return [{"kind": "upper", "value": float(value)}]


def _supported(tree: dict[str, Any]) -> bool:
    match tree:
        case {"name": "repeat", "mechanism": part}:
            return _supported(part)
        case {"name": "compose", "parts": parts}:
            return all(map(_supported, parts))
        case {"name": "poisson", "mechanism": {"name": noise}, "q": q}:
            return bool(noise == "gaussian" and q > 0)
        case {"name": "gdp", "mu": mu}:
            return bool(mu > 0)
    return tree["name"] in ("gaussian", "laplace")


def _event(tree: dict[str, Any]) -> Any:
    import dp_accounting

    match tree:
        case {"name": "repeat", "mechanism": part, "times": times}:
            return dp_accounting.SelfComposedDpEvent(_event(part), times)
        case {"name": "compose", "parts": parts}:
            return dp_accounting.ComposedDpEvent([_event(part) for part in parts])
        case {"name": "poisson", "mechanism": part, "q": q}:
            return dp_accounting.PoissonSampledDpEvent(q, _event(part))
        case {"name": "gdp", "mu": mu}:
            return dp_accounting.GaussianDpEvent(1.0 / mu)
        case {"name": "laplace", "scale": scale, "sensitivity": sensitivity}:
            return dp_accounting.LaplaceDpEvent(scale / sensitivity)
    return dp_accounting.GaussianDpEvent(tree["sigma"] / tree["sensitivity"])


ACCOUNTANT: Final = RenyiAccountant()
