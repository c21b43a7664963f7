"""What trapezoidal rules of many steps are said to miss, against what they do."""

from __future__ import annotations

import pytest
from flint import acb, arb

from dpexact.accounting.pairs.clouds import common_rule
from dpexact.balls import precision


def test_the_integrand_grows_as_is_said() -> None:
    """Where both parts of ``A`` are alike its modulus falls by the cosine."""
    q, v, height, power = arb(0.01), arb(2), arb(2.5), arb(-3)
    with precision(100):
        w = acb(((1 - q) / q).log(), height)

        def modulus(place: acb) -> arb:
            a = 1 + q * (place.exp() - 1)
            return abs(common_rule._density(v, place)) * abs(a) ** power

        ratio = modulus(w) / modulus(acb(w.real))
        assert common_rule.growth(v, power, height).overlaps(ratio)


@pytest.mark.parametrize(
    ("rate", "power", "first", "last"),
    [("0.9", -2, -12, 80), ("0.01", -2, -80, 12), ("0.01", 3, -12, 80), ("0.01", 3, -80, 32)],
)
def test_what_is_beyond_the_ends_is_bounded(rate: str, power: int, first: int, last: int) -> None:
    v, spacing = arb(1), arb(0.25)
    with precision(100):
        q, ends = arb(rate), (first * spacing, last * spacing)
        bound = common_rule.beyond(v, q, arb(power), ends, spacing, arb(0))
        scale = spacing * (v / (2 * arb.pi())).sqrt()
        outside = [*range(first - 200, first), *range(last + 1, last + 200)]
        exact = arb(0)
        for place in (j * spacing for j in outside):
            a = 1 + q * place.expm1()
            exact += scale * common_rule._density(v, acb(place)).real * a**power
        assert exact <= bound
        assert exact > bound / 20
