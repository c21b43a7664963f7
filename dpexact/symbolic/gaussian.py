"""The Gaussian privacy profile as an expression in ``epsilon`` and ``mu``."""

from __future__ import annotations

import sympy

from dpexact.symbolic.expressions import EPSILON, MU


def gaussian_delta() -> sympy.Expr:
    r"""``delta(epsilon)`` of ``N(mu, 1)`` against ``N(0, 1)`` (Balle and Wang 2018, Theorem 8).

    .. math:: \Phi(-\varepsilon/\mu + \mu/2) - e^{\varepsilon}\,\Phi(-\varepsilon/\mu - \mu/2),
              \qquad \Phi(x) = \mathrm{erfc}(-x/\sqrt 2)/2.
    """
    near = sympy.erfc((EPSILON / MU - MU / 2) / sympy.sqrt(2)) / 2
    far = sympy.erfc((EPSILON / MU + MU / 2) / sympy.sqrt(2)) / 2
    return near - sympy.exp(EPSILON) * far
