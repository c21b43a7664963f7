"""OpenDP: measurements whose maps add up in their own measure, and convert at the end."""

from __future__ import annotations

from typing import Any, Final

#: Composition lists every measurement.
_MOST_MEASUREMENTS: Final = 20_000

#: The constructor of each noise, the parameter that scales it, and the type of its numbers.
_NOISE: Final = {
    "gaussian": ("make_gaussian", "sigma", float),
    "discrete_gaussian": ("make_gaussian", "sigma", int),
    "laplace": ("make_laplace", "scale", float),
    "discrete_laplace": ("make_laplace", "scale", int),
}


class OpenDP:
    """The maps of ``make_composition``: claim upper bounds, rounded upwards.

    The epsilon of Laplace noise is that of pure privacy; all else is accounted for in
    zero-concentrated privacy.
    """

    name = "opendp"
    distributions: tuple[str, ...] = ("opendp",)
    module = "opendp.prelude"
    install = '"dpexact[accountants]"'
    kinds: tuple[str, ...] = ("upper",)

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "sentence": "If true, implies that if the distance between inputs is at most `d_in`, "
            "then the privacy usage is at most `d_out`.",
            "where": "opendp 0.16.0, Measurement.check",
            "relation": "inputs at the distance of the sensitivity",
        }

    def supports(self, query: dict[str, Any]) -> bool:
        steps = query["steps"]
        if not all(tree["name"] in _NOISE for tree, _ in steps):
            return False
        types = {_NOISE[tree["name"]][2] for tree, _ in steps}
        distances = {tree["sensitivity"] for tree, _ in steps}  # neighbours have one distance
        number = sum(times for _, times in steps)
        return len(types) == len(distances) == 1 and number <= _MOST_MEASUREMENTS

    def call(self, query: dict[str, Any]) -> str:
        steps = query["steps"]
        measurements = " + ".join(
            f"[{_written(tree, _pure(query))}] * {times}" for tree, times in steps
        )
        composed, distance = f"make_composition({measurements})", steps[0][0]["sensitivity"]
        if _pure(query):
            return f"{composed}.map({distance!r})"
        profile = f"make_zCDP_to_approxDP({composed}).map({distance!r})"
        return f"{profile}.{query['quantity']}({query['at']!r})"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        import opendp.prelude as package
        from opendp import combinators

        package.enable_features("contrib")
        steps, pure = query["steps"], _pure(query)
        listed = [part for tree, times in steps for part in [_built(tree, pure)] * times]
        composed = combinators.make_composition(listed)
        distance = steps[0][0]["sensitivity"]
        if pure:
            value = composed.map(distance)
        else:
            profile = combinators.make_zCDP_to_approxDP(composed).map(distance)
            value = getattr(profile, query["quantity"])(query["at"])
        return [{"kind": "upper", "value": value}]


def _pure(query: dict[str, Any]) -> bool:
    """Whether the question is answered in pure privacy."""
    laplace = all(_NOISE[tree["name"]][0] == "make_laplace" for tree, _ in query["steps"])
    return laplace and bool(query["quantity"] == "epsilon")


def _written(tree: dict[str, Any], pure: bool) -> str:
    """The expression that :func:`_built` evaluates, without the space."""
    function, parameter, kind = _NOISE[tree["name"]]
    noise = f"{function}({kind.__name__} space, scale={tree[parameter]!r})"
    return noise if pure or function == "make_gaussian" else f"make_pureDP_to_zCDP({noise})"


def _built(tree: dict[str, Any], pure: bool) -> Any:
    import opendp.prelude as package
    from opendp import combinators, measurements

    function, parameter, kind = _NOISE[tree["name"]]
    if kind is float:
        domain = package.atom_domain(T=float, nan=False)
    else:
        domain = package.atom_domain(T=int)
    metric = package.absolute_distance(T=kind)
    noise = getattr(measurements, function)(domain, metric, scale=tree[parameter])
    if pure or function == "make_gaussian":
        return noise
    return combinators.make_pureDP_to_zCDP(noise)


ACCOUNTANT: Final = OpenDP()
