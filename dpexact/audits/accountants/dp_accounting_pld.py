"""dp-accounting, privacy loss distributions on the default grid: pessimistic and optimistic.

The pessimistic ones connect the dots; the optimistic ones, which the package has for noise only,
collect the privacy loss in buckets.
"""

from __future__ import annotations

from typing import Any, Final

#: The package's own default step of the grid of privacy losses.
INTERVAL: Final = 1e-4

#: Noise that may also be subsampled.
_NOISE: Final = ("gaussian", "laplace", "discrete_laplace", "discrete_gaussian")

_VERSION: Final = "dp-accounting 0.6.0, dp_accounting.pld.privacy_loss_distribution"
_PLACES: Final = {
    "epsilon": "PrivacyLossDistribution.get_epsilon_for_delta",
    "delta": "from_gaussian_mechanism",
}
_PROMISES: Final = {
    "epsilon": "When this privacy loss distribution corresponds to a mechanism and the rounding is "
    "pessimistic, the returned value corresponds to an epsilon for which the mechanism is "
    "(epsilon, delta)-differentially private.",
    "delta": "a value indicating whether the rounding is done in such a way that the resulting "
    "epsilon-hockey stick divergence computation gives an upper estimate to the real value.",
}

_QUESTIONS: Final = {"epsilon": "get_epsilon_for_delta", "delta": "get_delta_for_epsilon"}

#: The package offers the two directions of add/remove neighbours only as private attributes.
_SIDES: Final = {"remove": "_pmf_remove", "add": "_pmf_add"}


class PrivacyLossDistributions:
    """``privacy_loss_distribution``: claims upper bounds, or lower ones if ``optimistic``."""

    distributions: tuple[str, ...] = ("dp-accounting",)
    module = "dp_accounting.pld.privacy_loss_distribution"
    install = '"dpexact[accountants]"'

    def __init__(self, name: str, optimistic: bool) -> None:
        self.name = name
        self.kinds: tuple[str, ...] = ("lower" if optimistic else "upper",)
        self._optimistic = optimistic

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": _PROMISES["delta" if self._optimistic else query["quantity"]],
            "where": f"{_VERSION}.{_PLACES['delta' if self._optimistic else query['quantity']]}",
            "relation": "add/remove",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        return _supported(query["mechanism"], self._optimistic)

    def call(self, query: dict[str, Any]) -> str:
        side = _SIDES.get(query["direction"])
        pieces = [
            _written(query["mechanism"], self._optimistic),
            side,
            _QUESTIONS[query["quantity"]],
        ]
        return ".".join(piece for piece in pieces if piece) + f"({query['at']!r})"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        distribution = _built(query["mechanism"], self._optimistic)
        side = _SIDES.get(query["direction"])
        asked = distribution if side is None else getattr(distribution, side)
        value = getattr(asked, _QUESTIONS[query["quantity"]])(query["at"])
        return [{"kind": self.kinds[0], "value": float(value)}]


def _supported(tree: dict[str, Any], optimistic: bool) -> bool:
    match tree:
        case {"name": "repeat", "mechanism": part}:
            return _supported(part, optimistic)
        case {"name": "compose", "parts": parts}:
            return all(_supported(part, optimistic) for part in parts)
        case {"name": "poisson", "mechanism": {"name": noise}, "q": q}:
            return bool(noise in _NOISE and q > 0)
        case {"name": "gdp", "mu": mu}:
            return bool(mu > 0)
        case {"name": "pure_dp" | "approx_dp"}:
            return not optimistic
        case {"name": "gaussian_mixture", "sensitivities": law}:
            return not optimistic and any(reach > 0 and mass > 0 for reach, mass in law)
        case {"name": "truncated_poisson", "mechanism": {"name": noise}, "q": q, "batch": batch}:
            return bool(noise == "gaussian" and q > 0 and batch > 0 and not optimistic)
        case {"name": "replace", "mechanism": part}:
            return not optimistic and _replaced(part)
    return tree["name"] in _NOISE


def _replaced(tree: dict[str, Any]) -> bool:
    """Whether the package knows replacement under it: Gaussian noise, sampled or not."""
    match tree:
        case {"name": "repeat", "mechanism": part}:
            return _replaced(part)
        case {"name": "compose", "parts": parts}:
            return all(map(_replaced, parts))
        case {"name": "poisson", "mechanism": {"name": "gaussian"}, "q": q}:
            return bool(q > 0)
    return bool(tree["name"] == "gaussian")


def _constructor(tree: dict[str, Any], optimistic: bool) -> tuple[str, dict[str, Any]]:
    """The constructor of a single mechanism and its arguments, without the grid."""
    match tree:
        case {"name": "poisson", "mechanism": noise, "q": q}:
            function, arguments = _constructor(noise, optimistic)
            return function, {**arguments, "sampling_prob": q}
        case {"name": "gdp", "mu": mu}:
            gaussian = {"name": "gaussian", "sigma": 1.0, "sensitivity": mu}
            return _constructor(gaussian, optimistic)
        case {"name": "pure_dp", "eps": eps}:
            return _constructor({"name": "approx_dp", "eps": eps, "delta": 0.0}, optimistic)
        case {"name": "approx_dp", "eps": eps, "delta": delta}:
            return "from_privacy_parameters", {"epsilon": eps, "delta": delta}
        case {"name": "gaussian_mixture", "sigma": sigma, "sensitivities": law}:
            return "from_mixture_gaussian_mechanism", {
                "standard_deviation": sigma,
                "sensitivities": [reach for reach, mass in law if mass],
                "sampling_probs": [mass for _, mass in law if mass],
            }
        case {"name": "truncated_poisson", "mechanism": noise, "q": q, "n": n, "batch": batch}:
            return "from_truncated_subsampled_gaussian_mechanism", {
                "dataset_size": n,
                "sampling_probability": q,
                "truncated_batch_size": batch,
                "noise_multiplier": noise["sigma"] / noise["sensitivity"],
            }
        case {"name": "replaced", "mechanism": part}:
            function, arguments = _constructor(part, optimistic)
            return function, {**arguments, "neighboring_relation": "REPLACE_ONE"}
        case {"name": "gaussian", "sigma": sigma}:
            function, arguments = "from_gaussian_mechanism", {"standard_deviation": sigma}
        case {"name": "laplace", "scale": scale}:
            function, arguments = "from_laplace_mechanism", {"parameter": scale}
        case {"name": "discrete_laplace", "scale": scale}:
            function, arguments = "from_discrete_laplace_mechanism", {"parameter": 1.0 / scale}
        case _:
            function, arguments = "from_discrete_gaussian_mechanism", {"sigma": tree["sigma"]}
    arguments["sensitivity"] = tree["sensitivity"]
    arguments["use_connect_dots"] = not optimistic
    if optimistic:
        arguments["pessimistic_estimate"] = False
    return function, arguments


def _pushed(tree: dict[str, Any]) -> dict[str, Any]:
    """``replace`` of single mechanisms, the package's relation of each."""
    inner = tree["mechanism"]
    if inner["name"] == "repeat":
        return {**inner, "mechanism": {**tree, "mechanism": inner["mechanism"]}}
    if inner["name"] == "compose":
        return {**inner, "parts": [{**tree, "mechanism": part} for part in inner["parts"]]}
    return {"name": "replaced", "mechanism": inner}


def _built(tree: dict[str, Any], optimistic: bool) -> Any:
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import common, privacy_loss_distribution

    if tree["name"] == "replace":
        return _built(_pushed(tree), optimistic)
    if tree["name"] == "repeat":
        return _built(tree["mechanism"], optimistic).self_compose(tree["times"])
    if tree["name"] == "compose":
        first, *rest = (_built(part, optimistic) for part in tree["parts"])
        for other in rest:
            first = first.compose(other)
        return first
    function, arguments = _constructor(tree, optimistic)
    if function == "from_privacy_parameters":
        arguments = {"privacy_parameters": common.DifferentialPrivacyParameters(**arguments)}
    if "neighboring_relation" in arguments:
        arguments = {**arguments, "neighboring_relation": NeighboringRelation.REPLACE_ONE}
    constructor = getattr(privacy_loss_distribution, function)
    return constructor(**arguments, value_discretization_interval=INTERVAL)


def _written(tree: dict[str, Any], optimistic: bool) -> str:
    """The expression that :func:`_built` evaluates."""
    if tree["name"] == "replace":
        return _written(_pushed(tree), optimistic)
    if tree["name"] == "repeat":
        return f"{_written(tree['mechanism'], optimistic)}.self_compose({tree['times']})"
    if tree["name"] == "compose":
        first, *rest = (_written(part, optimistic) for part in tree["parts"])
        return first + "".join(f".compose({other})" for other in rest)
    function, arguments = _constructor(tree, optimistic)
    shown = ", ".join(
        f"{key}={value if key == 'neighboring_relation' else repr(value)}"
        for key, value in arguments.items()
    )
    if function == "from_privacy_parameters":
        shown = f"DifferentialPrivacyParameters({shown})"
    return f"{function}({shown}, value_discretization_interval={INTERVAL!r})"


ACCOUNTANT: Final = PrivacyLossDistributions("dp-accounting-pld", optimistic=False)
OPTIMISTIC: Final = PrivacyLossDistributions("dp-accounting-pld-optimistic", optimistic=True)
