"""The closed forms, of ``approx_dp(eps, delta)`` in ``E = e^eps`` and ``delta``."""

from __future__ import annotations

from typing import Final

import sympy

from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: ``E = e^eps`` of one mechanism, ``delta`` its infinite-loss mass, ``X = e^epsilon`` the argument.
E: Final = sympy.Symbol("E", positive=True)
DELTA: Final = sympy.Symbol("delta", nonnegative=True)
X: Final = sympy.Symbol("X", positive=True)
EPSILON: Final = sympy.Symbol("epsilon", nonnegative=True)
MU: Final = sympy.Symbol("mu", positive=True)
#: ``alpha`` a type I error, ``y`` the slope of a supporting line, ``p`` a sampling rate.
ALPHA: Final = sympy.Symbol("alpha", nonnegative=True)
SLOPE: Final = sympy.Symbol("y", real=True)
RATE: Final = sympy.Symbol("p", positive=True)

#: Python, and so sympy, writes no longer integers.
_MAX_DIGITS: Final = 4300


def to_sympy(value: Real) -> sympy.Expr:
    """``value`` as a sympy expression, nothing rounded.

    Raises:
        UnsupportedMechanism: a numerator or denominator of more than 4,300 digits.

    >>> from dpexact.conversion import real
    >>> to_sympy(real("3*log(3/2)"))
    3*log(3/2)
    """
    if value.fraction is not None:
        if max(abs(value.fraction.numerator), value.fraction.denominator) >= 10**_MAX_DIGITS:
            raise UnsupportedMechanism(
                f"no closed form is written out with numbers of more than {_MAX_DIGITS} digits"
            )
        return sympy.Rational(value.fraction.numerator, value.fraction.denominator)
    if value.operator in ("pi", "e"):
        return sympy.pi if value.operator == "pi" else sympy.E
    operands = [to_sympy(argument) for argument in value.arguments]
    match value.operator, operands:
        case "log" | "exp" | "sqrt", [a]:
            return getattr(sympy, value.operator)(a)
        case "+", [a, b]:
            return a + b
        case "*", [a, b]:
            return a * b
        case "/", [a, b]:
            return a / b
        case "^", [a, b]:
            return a**b
    raise AssertionError(f"unknown operator {value.operator}")


def gaussian_delta() -> sympy.Expr:
    r"""``delta(epsilon)`` of ``N(mu, 1)`` against ``N(0, 1)`` (Balle and Wang 2018, Theorem 8).

    .. math:: \Phi(-\varepsilon/\mu + \mu/2) - e^{\varepsilon}\,\Phi(-\varepsilon/\mu - \mu/2),
              \qquad \Phi(x) = \mathrm{erfc}(-x/\sqrt 2)/2.
    """
    near = sympy.erfc((EPSILON / MU - MU / 2) / sympy.sqrt(2)) / 2
    far = sympy.erfc((EPSILON / MU + MU / 2) / sympy.sqrt(2)) / 2
    return near - sympy.exp(EPSILON) * far


def sampled_gaussian_renyi(order: int) -> sympy.Expr:
    r"""The finite sum of Theorem 34 of Steinke (2022), direction ``remove``, ``order >= 2``.

    .. math:: \frac{1}{a-1} \log \sum_{k=0}^{a} \binom{a}{k} (1-p)^{a-k} p^k e^{k(k-1)\mu^2/2}

    >>> sampled_gaussian_renyi(2)
    log(p**2*exp(mu**2) + p*(2 - 2*p) + (1 - p)**2)
    """
    total = sum(
        sympy.binomial(order, k)
        * (1 - RATE) ** (order - k)
        * RATE**k
        * sympy.exp(sympy.Rational(k * (k - 1), 2) * MU**2)
        for k in range(order + 1)
    )
    return sympy.log(total) / (order - 1)


def optimal_composition_delta(count: int) -> sympy.Piecewise:
    r"""``delta'`` of ``count`` mechanisms, for ``X = e^(eps') >= 1``.

    Kairouz, Oh, Viswanath (2017), Theorem III.3. Between the breakpoints ``X = E^(2m-2-k)`` and
    ``X = E^(2m-k)``,

    .. math:: \delta' = 1 - (1-\delta)^k \Big(1 - \sum_{j=m}^{k} \binom{k}{j}
              \frac{E^j - X E^{k-j}}{(1+E)^k}\Big).

    >>> optimal_composition_delta(1)
    Piecewise((-(1 - delta)*(1 - (E - X)/(E + 1)) + 1, E > X), (delta, True))
    """
    survival = (1 - DELTA) ** count
    pieces = []
    for m in range(count // 2 + 1, count + 1):
        finite = sum(
            sympy.binomial(count, j) * (E**j - X * E ** (count - j)) for j in range(m, count + 1)
        ) / ((1 + E) ** count)
        pieces.append((1 - survival * (1 - finite), E ** (2 * m - count) > X))
    return sympy.Piecewise(*pieces, (1 - survival, True))


def tensor_power_vertices(count: int) -> list[tuple[sympy.Expr, sympy.Expr]]:
    r"""The vertices ``(alpha, f(alpha))`` of the ``count``-fold tensor power of ``f_{eps,delta}``.

    With ``S = (1-delta)^k``, rejecting all outcomes of at least ``m`` ones,

    .. math:: \alpha_m = S \sum_{j \ge m} \binom{k}{j} \frac{E^{k-j}}{(1+E)^k}, \qquad
              \beta_m = S - S \sum_{j \ge m} \binom{k}{j} \frac{E^{j}}{(1+E)^k},

    for ``m = k+1, ..., 0``, and ``(1, 0)`` where ``delta > 0``.

    >>> tensor_power_vertices(1)
    [(0, 1 - delta), ((1 - delta)/(E + 1), (1 - delta)/(E + 1)), (1 - delta, 0), (1, 0)]
    """
    survival = (1 - DELTA) ** count
    whole = (1 + E) ** count
    vertices = []
    below = above = sympy.Integer(0)
    for m in range(count + 1, -1, -1):
        if m <= count:
            below += sympy.binomial(count, m) * E ** (count - m)
            above += sympy.binomial(count, m) * E**m
        remaining = sympy.factor(sympy.expand(whole) - above)
        vertices.append(
            (survival * sympy.cancel(below / whole), survival * sympy.cancel(remaining / whole))
        )
    return [*vertices, (sympy.Integer(1), sympy.Integer(0))]


def vertices(count: int) -> sympy.Tuple:
    """:func:`tensor_power_vertices` as one expression."""
    return sympy.Tuple(*(sympy.Tuple(*vertex) for vertex in tensor_power_vertices(count)))


def without_delta(expression: sympy.Basic) -> sympy.Basic:
    """At ``delta = 0``; of vertices the last two are then the same."""
    found = expression.subs(DELTA, 0)
    return sympy.Tuple(*found[:-1]) if isinstance(found, sympy.Tuple) else found


def conjugate() -> sympy.Expr:
    r"""The convex conjugate ``f*(y) = sup_a (a y - f(a))`` of ``f_{eps,delta}``.

    The supremum of a piecewise-linear function is at a vertex:
    ``max(delta - 1, (1-delta)(y-1)/(1+E), (1-delta) y, y)``.
    """
    lines = [alpha * SLOPE - beta for alpha, beta in tensor_power_vertices(1)]
    return sympy.Max(*lines)


def subsampled() -> sympy.Expr:
    r"""``C_p(f_{eps,delta})`` in ``alpha``; ``e^{eps'} = 1 - p + p E`` and ``delta' = p delta``.

    .. math:: \max\Big\{f_{\varepsilon',\delta'}(\alpha),\;
              1 - p\delta - p(1-\delta)\frac{E-1}{E+1} - \alpha\Big\}

    (Dong, Roth, Su 2022, equation (14), where the factor ``1 - delta`` is missing).
    """
    growth = 1 - RATE + RATE * E
    kept = 1 - RATE * DELTA
    middle = kept - RATE * (1 - DELTA) * (E - 1) / (E + 1) - ALPHA
    return sympy.Max(0, kept - growth * ALPHA, (kept - ALPHA) / growth, middle)
