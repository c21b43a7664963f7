"""Mechanisms as the trees of certificates: random ones, and such as cannot exist."""

from fractions import Fraction

from hypothesis import strategies as st

_TINY = str(Fraction(1, 10**300))
_REALS = {
    "positive": [_TINY, "1/3", "1", "2", ["sqrt", "2"], ["exp", "-1"], ["*", "-1", "-3/2"]],
    "not negative": ["0", _TINY, "1/2", "1", ["log", "3"], ["+", "-1/3", "1/3"]],
    "share": ["0", _TINY, "1/3", "1", ["/", "1", ["pi"]], ["^", "2", "-3"]],
    "count": ["1", "2", "7"],
    "repetition": ["2", "3", "1000"],
}
_OUTSIDE = {
    "positive": ["0", "-" + _TINY, "-1", "-1/2", ["log", "1/2"], ["+", "1", "-1"]],
    "not negative": ["-" + _TINY, "-1", ["log", "2/3"], ["*", "-1", ["sqrt", "2"]]],
    "share": ["-" + _TINY, "-1", "-1/2", "2", "10000001/10000000", ["sqrt", "2"], ["log", "1/2"]],
    "count": ["0", "-1", "1/2", "3/2"],
    "repetition": ["0", "-2", "3/2", "1" + "0" * 19],
}
_PARAMETERS = {
    "pure_dp": ["not negative"],
    "approx_dp": ["not negative", "share"],
    "gdp": ["not negative"],
    "gaussian": ["positive", "positive"],
    "laplace": ["positive", "positive"],
    "discrete_laplace": ["positive", "count"],
    "discrete_gaussian": ["positive", "count"],
    "staircase": ["positive", "share", "positive"],
    "poisson": ["mechanism", "share"],
    "repeat": ["mechanism", "repetition"],
}


@st.composite
def mechanisms(draw, depth=3):
    """A mechanism of the grammar."""
    name = draw(st.sampled_from([*_PARAMETERS, "compose", "poisson", "poisson"]))
    if depth == 0 and name in ("compose", "poisson", "repeat"):
        name = "gdp"
    if name == "compose":
        return [name, *draw(st.lists(mechanisms(depth - 1), min_size=2, max_size=3))]
    parts = [
        draw(mechanisms(depth - 1) if domain == "mechanism" else st.sampled_from(_REALS[domain]))
        for domain in _PARAMETERS[name]
    ]
    return [name, *parts]


@st.composite
def impossible(draw, sound=None):
    """One parameter of a mechanism out of its domain, wherever it stands."""
    tree = draw(mechanisms() if sound is None else sound)
    places = []

    def visit(node):
        name, *parts = node
        domains = _PARAMETERS.get(name, ["mechanism"] * len(parts))
        for i, (domain, part) in enumerate(zip(domains, parts, strict=True), 1):
            if domain == "mechanism":
                visit(part)
            else:
                places.append((node, i, domain))

    visit(tree)
    node, i, domain = draw(st.sampled_from(places))
    node[i] = draw(st.sampled_from(_OUTSIDE[domain]))
    return tree


def sampled_gaussians():
    """What the checker of contour integrals takes."""
    gaussian = st.sampled_from([["gaussian", "2", "1"], ["gdp", "1/3"]])
    rates = st.sampled_from(["1/10", "1/3", ["exp", "-3"]])

    def nested(inner):
        return st.tuples(inner, rates).map(lambda pair: ["poisson", *pair])

    sample = nested(gaussian) | nested(nested(gaussian))
    beside = st.sampled_from([["approx_dp", "1/10", "1/1000"], ["gaussian", "5", "1"]])
    return st.tuples(sample, beside, st.sampled_from(["2", "30"])).map(
        lambda parts: ["compose", ["repeat", parts[0], parts[2]], parts[1]]
    )


def numbers():
    """Expressions of the format, with a value or without."""
    rationals = st.builds(lambda n, d: str(Fraction(n, d)), st.integers(-6, 6), st.integers(1, 4))
    operators = st.sampled_from(["+", "*", "/"])
    functions = st.sampled_from(["log", "exp", "sqrt"])
    exponents = st.integers(-4, 4).map(str)

    def grown(inner):
        return (
            st.tuples(functions, inner)
            | st.tuples(operators, inner, inner)
            | st.tuples(st.just("^"), inner, exponents)
        ).map(list)

    return st.recursive(rationals | st.sampled_from([["pi"], ["e"]]), grown, max_leaves=6)
