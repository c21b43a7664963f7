"""Section 5: private stochastic gradient descent and its limit theorem."""

from __future__ import annotations

from fractions import Fraction

import sympy

from proofs_checks.evidence import Evidence
from proofs_checks.gdp.core import follows, positive, same
from proofs_checks.gdp.gaussian import density
from proofs_checks.prover.expressions import phi, rational
from proofs_checks.prover.goals import step
from proofs_checks.prover.intervals import prove
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import positive_coefficients
from proofs_checks.prover.symbolic import unfolds
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued, contradicted, corrected

_X = sympy.Symbol("x")


@check(
    "gdp.alg1.sens",
    "gdp.thm10",
    expects="proved",
    assumes=("gdp.thm1", "gdp.thm9", "gdp.thm4"),
    smoke=True,
)
def clipped_average() -> Derivation:
    """Two clipped gradients differ by at most 2C, in norm; two coordinates carry the identity."""
    a, b, c, d = sympy.symbols("a b c d", real=True)
    clip, m, sigma = positive("C m sigma")
    return argued(
        "parallelogram law: sensitivity 2C/m, so each step is C_{m/n}(G_{1/sigma}); compose",
        same(
            4 * clip**2 - ((a - c) ** 2 + (b - d) ** 2),
            2 * (clip**2 - a**2 - b**2) + 2 * (clip**2 - c**2 - d**2) + (a + c) ** 2 + (b + d) ** 2,
            "4C^2 - |u-v|^2 = 2(C^2-|u|^2) + 2(C^2-|v|^2) + |u+v|^2 >= 0",
        ),
        unfolds(
            (2 * clip / m) / (2 * sigma * clip / m), 1 / sigma, "sensitivity/deviation = 1/sigma"
        ),
    )


def logarithm_bounds(half: Fraction = Fraction(1, 2)) -> tuple[Evidence, ...]:
    """For ``u >= 0``: ``u - u^2/2 <= log(1+u) <= u/sqrt(1+u) <= u``."""
    (u,) = positive("u")
    low = sympy.log(1 + u) - u + rational(half) * u**2
    return (
        same(sympy.Derivative(low, u), u**2 / (1 + u), "log(1+u) - u + u^2/2 rises from 0"),
        prove(
            sympy.sinh(_X) - _X,
            ">=",
            {_X: (0, "oo")},
            touch=[(_X, 0, 3)],
            text="log(1+u) <= u/sqrt(1+u): 2 w <= 2 sinh w with 1 + u = e^(2w)",
        ),
        same((sympy.exp(2 * u) - 1) / sympy.exp(u), 2 * sympy.sinh(u), "u/sqrt(1+u) = 2 sinh w"),
    )


@check(
    "gdp.thm11",
    "gdp.scaling",
    expects="proved",
    assumes=("gdp.thm6", "gdp.eq13"),
    verifies=("kl, kappa_2, kappa_3 of C_p(f) up to p^3 int g^3, g = |f'| - 1 on [0, x*]",),
)
def limit_of_subsampled_compositions() -> Derivation:
    """By (13) the slopes are ``-(1+u)``, ``u = p g``, and their mirror images.

    ``kl = int u log(1+u)``, ``kappa_2 = int (2+u) log^2(1+u)``, and so on, over [0, x*]. With
    ``chi = int g^2``: ``T kl -> p0^2 chi``, ``T kappa_2 -> 2 p0^2 chi``, ``T kappa_3 -> 0`` as
    ``T p^3 -> 0``. Theorem 6: ``2 K/s = p0 sqrt(2 chi)``; another order of p gives 0 or oo.
    """
    u, v, p, chi = positive("u v p0 chi")
    length = sympy.log(1 + u)
    low = u - u**2 / 2
    return argued(
        "Theorem 6 with K = p0^2 chi, s^2 = 2 p0^2 chi, from bounds of the logarithm",
        *logarithm_bounds(),
        same(-length + (1 + u) * length, u * length, "kl: -l dx and, mirrored, l e^l dx"),
        same(u * u - u * low, u**3 / 2, "u^2 - u^3/2 <= u log(1+u) <= u^2"),
        same(
            2 * u**2 - (2 + u) * u**2 / (1 + u),
            u**3 / (1 + u),
            "(2+u) log^2(1+u) <= (2+u) u^2/(1+u) <= 2 u^2",
        ),
        same(2 * low**2 - (2 * u**2 - 2 * u**3), u**4 / 2, "u <= 1: at least 2 u^2 - 2 u^3"),
        positive_coefficients(2 * v**3 - 2 * v**2, {v: 1}),
        same(
            2 * u**3 - (2 + u) * u**3 / (1 + u),
            u**4 / (1 + u),
            "(2+u) log^3(1+u) <= (2+u) u^3/(1+u) <= 2 u^3",
        ),
        unfolds(2 * p**2 * chi / sympy.sqrt(2 * p**2 * chi), p * sympy.sqrt(2 * chi), "2 K/s"),
    )


@check("gdp.cor4", expects="repaired", assumes=("gdp.thm11", "gdp.lem3"), smoke=True)
def constant_of_the_limit(power: int = 1) -> Derivation:
    """Theorem 11 with ``p0 = c`` and Lemma 3 at ``mu = 1/sigma``."""
    c, chi = positive("c chi")
    return corrected(
        "slip",
        "the factor sqrt(2c) (as transcribed) differs from Theorem 11's unless c = 1",
        "mu = sqrt(2) c sqrt(e^(1/sigma^2) Phi(3/(2 sigma)) + 3 Phi(-1/(2 sigma)) - 2)",
        unfolds(
            c * sympy.sqrt(2 * chi), sympy.sqrt(2) * c**power * sympy.sqrt(chi), "p0 sqrt(2 chi)"
        ),
        same(
            2 * c * chi - 2 * c**2 * chi,
            2 * c * (1 - c) * chi,
            "the squares differ by 2 c (1-c) chi, which is not 0 for c other than 1",
        ),
        certain(sympy.sqrt(2) / 4, "<", sympy.sqrt(sympy.Rational(1, 2)), "c = 1/4: 0.35 < 0.71"),
    )


@check("gdp.epoch", "gdp.alexnet", "gdp.bassily", expects="proved", smoke=True)
def epochs() -> Derivation:
    """``E = T m/n``; the numbers of the remark; the regime m = 1, T = O(n^2)."""
    t, m, n, k = positive("T m n k")
    return argued(
        "E m/n = (m sqrt T/n)^2; 90 * 128/1200000 = 6/625; m = 1, T = k n^2 gives c = sqrt k",
        unfolds(t * m / n * m / n, (m * sympy.sqrt(t) / n) ** 2, "E m/n = (m sqrt T/n)^2"),
        certain(Fraction(90 * 128, 1_200_000), "=", Fraction(6, 625), "E m/n = 6/625"),
        certain(Fraction(6, 625), "<", Fraction(1, 100), "6/625 < 0.01"),
        unfolds(1 * sympy.sqrt(k * n**2) / n, sympy.sqrt(k), "m = 1, T = k n^2"),
    )


_MU, _P = sympy.symbols("mu p", positive=True)
_T = sympy.Symbol("t", real=True)
_RATIO = 1 - _P + _P * sympy.exp(_MU * _T - _MU**2 / 2)  # e^Z
_BOX = {"t": (Fraction(-2), Fraction(2)), "mu": (Fraction(1, 2), Fraction(2))}


def change_of_variable() -> Evidence:
    """``alpha = Phi(-t)``, ``t >= mu/2``: ``e^Z = -f_p'`` and ``d alpha = phi(t) dt``."""
    beta = _P * phi(_T - _MU) + (1 - _P) * (1 - phi(-_T))
    return same(
        sympy.Derivative(beta, _T),
        _RATIO * density(_T),
        "the slope of f_p at alpha = Phi(-t) is -e^Z = -(1-p+p e^(mu t - mu^2/2))",
        **_BOX,
    )


@check("gdp.lem4.kl", "gdp.lem4.k2", expects="proved", assumes=("gdp.eq13",), smoke=True)
def moments_of_the_subsampled_gaussian() -> Derivation:
    """Left of x* the log-slope is Z; the mirror image has -Z with weight ``e^Z``; between, 0."""
    z = sympy.Symbol("Z", real=True)
    shifted = density(_T - _MU)
    return argued(
        "(e^Z - 1) phi and (e^Z + 1) phi are the printed integrands",
        change_of_variable(),
        same(
            (_RATIO - 1) * density(_T),
            _P * (shifted - density(_T)),
            "kl: Z (e^Z - 1) phi(t) = Z p (phi(t-mu) - phi(t))",
            **_BOX,
        ),
        same(
            (_RATIO + 1) * density(_T),
            _P * shifted + (2 - _P) * density(_T),
            "kappa_2: Z^2 (e^Z + 1) phi(t) = Z^2 (p phi(t-mu) + (2-p) phi(t))",
            **_BOX,
        ),
        unfolds(z**2, (-z) ** 2, "the mirror image has the same square"),
    )


@check(
    "gdp.lem4.k3bar", "gdp.cor5", expects="repaired", assumes=("gdp.eq13", "gdp.thm5"), smoke=True
)
def third_moment_of_the_subsampled_gaussian(middle: int = 2) -> Derivation:
    """Between x* and ``f_p(x*)`` the log-slope is 0, so ``|0 + kl|^3`` counts there too."""
    star, k = phi(-_MU / 2), sympy.Symbol("kl", positive=True)
    value = _P * star + (1 - _P) * (1 - star)
    lacking = (1 - _P) * (1 - middle * star)
    return corrected(
        "error",
        "the third moment lacks the term kl^3 (1-p)(1 - 2 Phi(-mu/2)), positive for 0 < p < 1",
        "kappa_3bar is the printed integral plus that term; with it Corollary 5 is Theorem 5",
        change_of_variable(),
        same(
            _RATIO * density(_T),
            _P * density(_T - _MU) + (1 - _P) * density(_T),
            "the mirror image: |Z - kl|^3 (p phi(t-mu) + (1-p) phi(t))",
            **_BOX,
        ),
        same(value - star, lacking, "the length f_p(x*) - x* of the middle piece", **_BOX),
        same(k**3 * (value - star), k**3 * lacking, "times |0 + kl|^3", **_BOX),
        certain(sympy.erf(1 / (2 * sympy.sqrt(2))), ">", 0, "it is not 0: at mu = 1"),
    )


@check("gdp.cor5.sharp", expects="refuted", assumes=("gdp.cor5",), smoke=True)
def not_sharp() -> Derivation:
    """Lyapunov: ``2 y^3 - 3 y^2 + 1 >= 0`` with ``E y^2 = 1`` gives ``E y^3 >= 1``.

    So ``gamma >= 0.56/sqrt T``; and ``G(gamma) - gamma <= 1 - gamma`` certifies no smaller delta.
    """
    (y,) = positive("y")
    return contradicted(
        {"T": 14062, "delta": "1/100000"},
        "a reading of 'sharp', as useful at this delta: gamma >= 0.56/sqrt T > 0.0047 for every f, "
        "so no delta below 0.0047 is certified",
        same(2 * y**3 - 3 * y**2 + 1, (y - 1) ** 2 * (2 * y + 1), "2 y^3 - 3 y^2 + 1 >= 0"),
        follows(2 * y + 1, "the second factor"),
        certain(
            Fraction(56, 100) / sympy.sqrt(14062), ">", Fraction(47, 10_000), "0.56/sqrt T > 0.0047"
        ),
    )


@check("gdp.fig7.mu", "gdp.fig7.adjacency", expects="proved", smoke=True)
def conventions_of_the_experiments() -> Derivation:
    """Noise ``2 sigma C/m`` on the sensitivity ``2C/m``, or ``sigma C/m`` on ``C/m``."""
    return argued(
        "both conventions give 1/sigma a step; Corollary 4 at the published parameters",
        step(
            "(2*C/m)/(2*s*C/m) = (C/m)/(s*C/m)",
            {"C": "real > 0", "m": "real > 0", "s": "real > 0"},
        ),
    )
