"""Sections VI-D and VI-E: the canonical pair's products, and the misprints of the chain."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import sympy

from proofs_checks.evidence import Evidence
from proofs_checks.kov.branches import chernoff, plugged_in, single_letter
from proofs_checks.prover.enumeration import compose, every, hockey_stick, kov_pair
from proofs_checks.prover.goals import step
from proofs_checks.prover.intervals import Ends
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.symbolic import identity, unfolds
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued, corrected

_E, _D, _P, _Q, _S = sympy.symbols("E d p q slope", positive=True)
_BOX: Final[dict[Any, Ends]] = {_E: (1, 9), _D: (0, 1), _P: (0, 1), _Q: (0, 1), _S: (1, 9)}


def canonical(growth: Any, delta: Any) -> tuple[list[Any], list[Any]]:
    """Equations (9) and (10) as expressions."""
    p = [delta, (1 - delta) * growth / (1 + growth), (1 - delta) / (1 + growth), 0 * delta]
    return p, p[::-1]


def one_more_pair(factor: Any = None) -> tuple[Evidence, ...]:
    """``HS(P x K_d) = d + (1-d) HS(P x K_0)`` for every pair of laws ``P``, atom by atom.

    Beside an atom (p, q) the outcome 0 of K_d contributes ``d p`` (its Q-mass is 0), 3 nothing (its
    P-mass is 0), and 1, 2 have ``1-d`` times the masses of K_0, so their positive parts scale.
    """
    factor = 1 - _D if factor is None else factor
    (zero, *inner, last), (_, *inner_q, first) = canonical(_E, _D)
    plain, plain_q = (side[1:3] for side in canonical(_E, sympy.Integer(0)))
    h, g = sympy.symbols("h g", positive=True)
    return (
        *(
            identity(
                _P * a - _S * _Q * b,
                factor * (_P * c - _S * _Q * d),
                _BOX,
                text="atoms 1 and 2 of K_d are 1-d times those of K_0",
            )
            for a, b, c, d in zip(inner, inner_q, plain, plain_q, strict=True)
        ),
        unfolds(_P * zero - _S * _Q * last, _D * _P, "atom 0 contributes d p >= 0"),
        unfolds(_P * last - _S * _Q * first, -_S * _Q * _D, "atom 3 contributes 0"),
        identity(
            _D + (1 - _D) * (1 - g + g * h),
            1 - (1 - _D) * g + (1 - _D) * g * h,
            {_D: (0, 1), g: (0, 1), h: (0, 1)},
            text="d + (1-d)(1 - g + g h) = 1 - g' + g' h with g' = (1-d) g: induction on k",
        ),
    )


def _splits(k: int, growth: Fraction, delta: Fraction, slope: Fraction) -> bool:
    full = hockey_stick(*compose(*[kov_pair(growth, delta)] * k), slope)
    plain = hockey_stick(*compose(*[kov_pair(growth, 0)] * k), slope)
    return full == 1 - (1 - delta) ** k * (1 - plain)


@check("kov.sec6D.B0B1", "kov.eq16", "kov.eq18", expects="proved", smoke=True)
def deltas_split_off(factor: Any = None) -> Derivation:
    """By induction: ``d = 1 - prod(1-delta_l) + prod(1-delta_l) d`` of the pairs without them."""
    return argued(
        "induction on the number of pairs, atom by atom",
        *one_more_pair(factor),
        every(
            "equation (16) for k <= 3 by listing all outcomes",
            (
                {"k": k, "growth": Fraction(3, 2), "delta": Fraction(1, 10), "slope": slope}
                for k in (1, 2, 3)
                for slope in (Fraction(1), Fraction(5, 4), Fraction(2))
            ),
            _splits,
        ),
    )


@check("kov.eq9_10", "kov.sec4.E_single", expects="proved", smoke=True)
def the_canonical_pair() -> Derivation:
    """They sum to 1, the ratios are E and 1/E, and ``d_eps = delta``.

    With ``delta = 0`` the outcomes 0 and 3 have no mass: E is read on the support.
    """
    p, q = canonical(_E, _D)
    box: dict[Any, Ends] = {_E: (1, 9), _D: (0, 1)}
    return argued(
        "only atom 0 has P0 > E P1; e^eps is the only ratio >= 1 on the support",
        identity(sum(p), 1, box),
        unfolds(p[1], _E * q[1]),
        unfolds(p[2] * _E, q[2]),
        identity(p[2] - _E * q[2], -(1 - _D) * (_E - 1), box, text="atom 2: P0 - E P1 <= 0"),
        unfolds(p[0] - _E * q[0], _D, "atom 0 contributes delta"),
    )


@check("kov.sec6D.P0_matrix", expects="proved", smoke=True)
def the_square() -> Derivation:
    """The sixteen masses of P0 x P0."""
    p, _ = canonical(_E, _D)
    e, d, one = _E, _D, 1 + _E
    u = d * (1 - d)
    printed = [
        [d**2, u * e / one, u / one, 0],
        [u * e / one, (1 - d) ** 2 * e**2 / one**2, (1 - d) ** 2 * e / one**2, 0],
        [u / one, (1 - d) ** 2 * e / one**2, (1 - d) ** 2 / one**2, 0],
        [0, 0, 0, 0],
    ]
    facts = [unfolds(printed[i][j], p[i] * p[j]) for i in range(4) for j in range(4)]
    return argued("outer product, entry by entry", *facts)


@check("kov.eq17.identity", expects="proved", smoke=True)
def change_of_measure() -> Derivation:
    """Atom by atom ``p - e^e q = p (1 - e^(e - log p/q))``."""
    e = sympy.Symbol("eps", real=True)
    return argued(
        "each atom of B1",
        identity(
            _P - sympy.exp(e) * _Q,
            _P * (1 - sympy.exp(e - sympy.log(_P / _Q))),
            {e: (0, 3), _P: (Fraction(1, 10), 1), _Q: (Fraction(1, 10), 1)},
        ),
    )


@check("kov.sec6D.alphabet", expects="repaired", assumes=("kov.eq16",), smoke=True)
def alphabet_of_the_sets() -> Derivation:
    """The sets {1,2,3}^k and {1,2}^k go with the outcomes 0, 1, 2, 3 of (9) and (10)."""
    p, _ = kov_pair(Fraction(2), Fraction(1, 10))
    as_printed = 1 - (p[0] + p[1] + p[2]) ** 2
    masses, _ = canonical(_E, _D)
    return corrected(
        "slip",
        "with outcomes 1, 2, 3, 4 the mass 1-P({1,2,3}^2) is 0, not 1-(1-delta)^2 = 19/100",
        "with the outcomes 0, 1, 2, 3 one coordinate has P({1,2,3}) = 1 - delta",
        certain(as_printed, "=", 0, "1 - P0(first three)^2 = 0"),
        certain(1 - (p[1] + p[2] + p[3]) ** 2, "=", Fraction(19, 100), "1 - P0(last three)^2"),
        identity(masses[1] + masses[2] + masses[3], 1 - _D, {_E: (1, 9), _D: (0, 1)}),
    )


@check("kov.sec6D.mgf", "kov.sec6D.chain_exponent", expects="repaired", smoke=True)
def moment_of_a_single_letter(read: int = 2) -> Derivation:
    """With eps~ for eps the moment is another number."""
    e = sympy.E
    true = (e**2 + 1 / e) / (1 + e)
    other = (e ** (2 * read) + e**-read) / (1 + e**read)
    return corrected(
        "slip",
        "eps~ stands for eps: at eps = lam = 1, eps~ = 2 the moment is 2.086, not 6.52",
        "with eps throughout, for one letter: E e^(lam Z) = p e^(lam eps) + (1-p) e^(-lam eps), "
        "2p - 1 = tanh(eps/2)",
        certain(true, "<", Fraction(209, 100), "the moment is below 2.09"),
        certain(other, ">", Fraction(652, 100), "the printed form is above 6.52"),
        *single_letter(),
    )


@check("kov.sec6E.mgf_power", expects="repaired", smoke=True)
def moment_of_a_product() -> Derivation:
    """The moment of a sum of independent losses is the product, not a power."""
    e = sympy.E
    one, two = ((e ** (2 * x) + e**-x) / (1 + e**x) for x in (1, 2))
    p, q, x, y = sympy.symbols("p q x y", positive=True)
    left = p * q * x * y + p * (1 - q) * x / y + (1 - p) * q * y / x + (1 - p) * (1 - q) / (x * y)
    return corrected(
        "slip",
        "for eps = (1, 2), lam = 1 the product 13.6 lies strictly between the squares 4.4 and 42.6",
        "E e^(lam Z) is the product over l of the single moments",
        certain(one**2, "<", 5, "the first squared"),
        certain(one * two, ">", 13, "the product is above 13"),
        certain(one * two, "<", 14, "the product is below 14"),
        certain(two**2, ">", 42, "the second squared"),
        identity(
            left,
            (p * x + (1 - p) / x) * (q * y + (1 - q) / y),
            {p: (0, 1), q: (0, 1), x: (1, 5), y: (1, 5)},
            text="the moment of two independent losses factorises; one more at a time",
        ),
    )


@check(
    "kov.sec6E.mgf_fraction",
    expects="repaired",
    assumes=("kov.sec6D.hoeffding",),
    smoke=True,
)
def moment_is_above_one() -> Derivation:
    """Printed is a fraction of two equal terms, that is 1."""
    e = sympy.E
    eps, lam = sympy.symbols("eps lam", positive=True)
    return corrected(
        "slip",
        "the printed bound is 1, the moment at eps = lam = 1 is above 2",
        "E e^(lam Z) <= exp(lam eps tanh(eps/2) + lam^2 eps^2/2), Hoeffding's bound at x = lam eps",
        certain((e**2 + 1 / e) / (1 + e), ">", 2, "the moment is above 2"),
        *single_letter(),
        unfolds(
            sympy.tanh(eps / 2) * (lam * eps) + (lam * eps) ** 2 / 2,
            lam * eps * sympy.tanh(eps / 2) + lam**2 * eps**2 / 2,
        ),
    )


@check("kov.sec6D.square", expects="repaired", smoke=True)
def sign_of_the_square() -> Derivation:
    """The square stands with ``+k eps^2/2``; at the chosen lam it vanishes either way."""
    k, eps, c, lam = (Fraction(1), Fraction(1), Fraction(1), Fraction(0))
    square = k * eps**2 / 2 * (lam - c / (k * eps**2)) ** 2
    rest = -(c**2) / (2 * k * eps**2)
    exponent = -lam * c + lam**2 * k * eps**2 / 2
    return corrected(
        "slip",
        "with the printed sign the exponent at k = eps = c = 1, lam = 0 is -1, it is 0",
        "-lam c + lam^2 k eps^2/2 = +k eps^2/2 (lam - c/(k eps^2))^2 - c^2/(2 k eps^2)",
        certain(-square + rest, "=", -1, "the printed form is -1"),
        certain(exponent, "=", 0, "the exponent is 0"),
        *chernoff(),
    )


@check("kov.sec6D.chain_last", expects="repaired", smoke=True)
def last_inequality() -> Derivation:
    """The printed last line is too small where ``a^2 > e dt``; the conclusion stays."""
    a, dt = Fraction(1), Fraction(1, 10)
    s = sympy.sqrt(2 * sympy.log(sympy.E + 10))
    left = 1 / (1 + s) / (sympy.E + 10)
    x, y, t, g = sympy.symbols("a s dt g", positive=True)
    return corrected(
        "error",
        "at a = 1, dt = 1/10 the left side 0.0241 exceeds dt/((a+s)(a+1)) = 0.0154",
        "it equals dt/((a+s)(e dt/a + 1)), s = sqrt(2L), which is at most dt",
        certain(left, ">", Fraction(24, 1000), "the left side is above 0.024"),
        certain(
            sympy.Rational(1, 10) / ((1 + s) * 2),
            "<",
            Fraction(16, 1000),
            "the right side is below",
        ),
        certain(a**2, ">", 2 * dt, "a^2 is above e dt here"),
        identity(
            x * t / ((x + y) * (g * t + x)),
            t / ((x + y) * (g * t / x + 1)),
            {x: (Fraction(1, 10), 9), y: (1, 5), t: (Fraction(1, 100), 1), g: (2, 3)},
        ),
        *plugged_in(),
    )


@check("kov.sec6E.pmfs", expects="proved", smoke=True)
def heterogeneous_masses() -> Derivation:
    """The four masses add to 1; the first outcome is impossible under the other law."""
    variables = {"E": "real >= 1", "d": "real in [0, 1]"}
    return argued(
        "the masses add to 1, and all that exceeds E times the other law is the mass d",
        step("d + (1 - d)*E/(1 + E) + (1 - d)/(1 + E) = 1", variables),
        step("(1 - d)*E/(1 + E) - E*((1 - d)/(1 + E)) = 0", variables),
    )


@check("kov.def1.1", expects="proved", smoke=True)
def privacy_of_events() -> Derivation:
    """The largest of ``P(S) - E Q(S)`` is the hockey-stick divergence; each S is below it."""
    return argued(
        "every event is below the largest, and d is at least the largest",
        step(
            "p <= E*q + d",
            dict.fromkeys("pq", "real in [0, 1]") | {"E": "real >= 1", "d": "real"},
            "p - E*q <= d",
        ),
    )
