"""What a mechanism that runs another one asks about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from dpexact.accounting.pairs.coin import Run
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real


class Inside(Protocol):
    """A composition that runs on a sample, in a group, or on one side of a coin."""

    @property
    def is_gaussian(self) -> bool:
        """Whether nothing but Gaussians runs."""

    @property
    def noise(self) -> Real | None:
        """Their standard deviation over the sensitivity; None without any."""

    def guaranteed(self) -> tuple[Real, Real] | None:
        """A single best ``(eps, delta)``; None where there is none."""

    def run(self) -> tuple[Real, Run]:
        """The mass of infinite loss, and pairs with moments for the rest.

        Raises:
            UnsupportedMechanism: some part has none.
        """


Composed: TypeAlias = Callable[[Mechanism], Inside]
"""What there is inside."""
