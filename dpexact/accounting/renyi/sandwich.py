r"""Two-sided closed-form bounds of the sampled Gaussian, sharp where the noise is small.

With ``s = alpha - 1`` and ``D = alpha mu^2/2`` (Steinke 2022, Proposition 42 and the remark before
it), in the remove direction

.. math:: \Big(D - \tfrac{\alpha}{s}\log\tfrac1q\Big)_+ \le D_\alpha \le
          \min\Big\{D,\ \tfrac{\alpha}{s}\log\big(1 - q + q\,e^{sD/\alpha}\big)\Big\},

and in the add direction, since ``1 - q <= w(z) <= w(z')`` for ``z <= z'``, for every ``z'``

.. math:: \Big(\tfrac1s\log\Phi(z') - \log w(z')\Big)_+ \le D_\alpha \le \min\{D, -\log(1-q)\}.

The lower bound takes ``z' = mu/4``.
"""

from __future__ import annotations

from flint import arb


def remove(alpha: arb, excess: arb, square: arb, q: arb) -> tuple[arb, arb]:
    """Lower and upper bound, remove direction; ``excess = alpha - 1 > 0``, ``square = mu^2``."""
    plain = alpha * square / 2
    shrink = alpha / excess * q.log()
    # D - (alpha/s) log(1/q) + (alpha/s) log(1 + ((1-q)/q) e^(-sD/alpha)), without overflow
    gap = ((1 - q) / q * (-excess * square / 2).exp()).log1p() * alpha / excess
    return plain + shrink, (plain + shrink + gap).min(plain)


def add(alpha: arb, excess: arb, square: arb, q: arb) -> tuple[arb, arb]:
    """Lower and upper bound, add direction."""
    root = square.sqrt() / 4
    below = 1 - (root / arb(2).sqrt()).erfc() / 2
    ratio = q / (1 - q) * (-square / 4).exp()
    top = -(-q).log1p()
    return below.log() / excess + top - ratio.log1p(), top.min(alpha * square / 2)
