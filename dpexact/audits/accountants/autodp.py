"""autodp: mechanisms composed by their Rényi divergences, or as one Gaussian."""

from __future__ import annotations

from typing import Any, Final


class Autodp:
    """``Composition`` and ``ComposeGaussian``: claim upper bounds for add/remove neighbours."""

    name = "autodp"
    distributions: tuple[str, ...] = ("autodp",)
    module = "autodp.transformer_zoo"
    install = '"dpexact[accountants]"'
    kinds: tuple[str, ...] = ("upper",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "The package helps researchers and developers to correctly use advanced "
            "methods in differential privacy and obtain provable DP guarantees.",
            "where": "autodp 0.2.3.1, description of the package",
            "relation": "add/remove",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        return all(_written(tree) for tree, _ in query["steps"])

    def call(self, query: dict[str, Any]) -> str:
        mechanisms = ", ".join(_written(tree) for tree, _ in query["steps"])
        times = [times for _, times in query["steps"]]
        asked = f"{_QUESTIONS[query['quantity']]}({query['at']!r})"
        return f"{_composer(query['steps'])}()([{mechanisms}], {times}).{asked}"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        from autodp import transformer_zoo

        mechanisms = [_built(tree) for tree, _ in query["steps"]]
        times = [times for _, times in query["steps"]]
        composer = getattr(transformer_zoo, _composer(query["steps"]))()
        composed = composer(mechanisms, times)
        value = getattr(composed, _QUESTIONS[query["quantity"]])(query["at"])
        return [{"kind": "upper", "value": value}]


_QUESTIONS: Final = {"epsilon": "get_approxDP", "delta": "get_approx_delta"}


def _composer(steps: list[list[Any]]) -> str:
    gaussian = all(tree["name"] in ("gaussian", "gdp") for tree, _ in steps)
    return "ComposeGaussian" if gaussian else "Composition"


def _constructor(tree: dict[str, Any]) -> tuple[str, float] | None:
    """The class of a single mechanism that is not sampled, and its argument."""
    match tree:
        case {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity}:
            return "ExactGaussianMechanism", sigma / sensitivity
        case {"name": "gdp", "mu": mu} if mu > 0:
            return "ExactGaussianMechanism", 1.0 / mu
        case {"name": "laplace", "scale": scale, "sensitivity": sensitivity}:
            return "LaplaceMechanism", scale / sensitivity
        case {"name": "pure_dp", "eps": eps} if eps > 0:
            return "PureDP_Mechanism", eps
        case {"name": "discrete_gaussian", "sigma": sigma, "sensitivity": 1}:
            return "DiscreteGaussianMechanism", sigma
    return None


def _written(tree: dict[str, Any]) -> str:
    """The expression that :func:`_built` evaluates; empty if there is none."""
    if tree["name"] == "poisson":
        noise, q = tree["mechanism"], tree["q"]
        if noise["name"] != "gaussian" or not 0 < q < 1:
            return ""
        return f"AmplificationBySampling()({_written(noise)}, {q!r}, improved_bound_flag=True)"
    found = _constructor(tree)
    return f"{found[0]}({found[1]!r})" if found else ""


def _built(tree: dict[str, Any]) -> Any:
    from autodp import mechanism_zoo, transformer_zoo

    if tree["name"] == "poisson":
        sample = transformer_zoo.AmplificationBySampling()
        return sample(_built(tree["mechanism"]), tree["q"], improved_bound_flag=True)
    name, argument = _constructor(tree) or ("", 0.0)
    return getattr(mechanism_zoo, name)(argument)


ACCOUNTANT: Final = Autodp()
