"""How high windows are between places."""

from flint import arb

from dpexact import balls
from dpexact.accounting.engines.rare import heights
from dpexact.accounting.engines.rare.heights import Heights
from dpexact.accounting.engines.rare.law import SampledLaw
from dpexact.accounting.engines.rare.windows import Window
from dpexact.conversion import real

BITS = 200


def test_negligible_tails_of_windows_are_bounds_of_any_size(monkeypatch):
    """Whichever bound is said to be enough, window tails hold the truth."""
    with balls.precision(BITS):
        law = SampledLaw(real("1/2"), real("1/1000"))
        ratios = [arb(0), *(law.ratio(arb(-6 + i / 40)) for i in range(600))]
        window = Window(20, low=0.5)
        tails, rest = Heights(ratios)._small(0.5, window, 0.3)
        monkeypatch.setattr(heights, "_NEGLIGIBLE", 1.0)
        loose, above = Heights(ratios)._small(0.5, window, 0.3)
        assert all(x.overlaps(y) for x, y in zip(tails, loose, strict=True))
        assert all(x <= y.upper() for x, y in zip(rest, above, strict=True))
