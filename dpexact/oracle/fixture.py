"""What the fixture ``dp_oracle`` gives to a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dpexact.oracle.cases import Case
from dpexact.oracle.golden import select, suites, table

if TYPE_CHECKING:
    from dpexact.enclosure import Enclosure


class Oracle:
    """Golden rows without computing, and certified answers about anything else.

    Args:
        most: rows that :meth:`cases` takes of a selection, spread evenly over it; all, if None.

    >>> oracle = Oracle()
    >>> case = next(oracle.cases("dpsgd", quantity="epsilon", direction="both"))
    >>> case.check_upper(epsilon=1000)
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    @property
    def suites(self) -> dict[str, int]:
        """The suites, each with the number of its rows."""
        return suites()

    def table(self) -> tuple[Case, ...]:
        """Every golden row."""
        return table()

    def cases(
        self,
        suite: str | None = None,
        *,
        quantity: str | None = None,
        direction: str | None = None,
        mechanism: str | None = None,
        family: str | None = None,
    ) -> Iterator[Case]:
        """The golden rows of ``suite`` (of all, if None) that match.

        Args:
            suite: a name of :attr:`suites`.
            quantity: ``"epsilon"``, ``"delta"`` or ``"renyi"``.
            direction: ``"remove"``, ``"add"`` or ``"both"``.
            mechanism: part of the mechanism's text.
            family: the whole family, as ``"poisson(gaussian)"``.

        Raises:
            InvalidInput: an unknown suite, or nothing matches.
        """
        return iter(
            select(
                suite,
                quantity=quantity,
                direction=direction,
                mechanism=mechanism,
                family=family,
                most=self._most,
            )
        )

    def epsilon(
        self, mechanism: str, delta: Any, digits: int = 15, direction: str = "both"
    ) -> Enclosure:
        """Certified epsilon of any mechanism; computes, as :func:`dpexact.epsilon`."""
        import dpexact

        found: Enclosure = dpexact.epsilon(mechanism, delta, digits, direction)
        return found

    def delta(
        self, mechanism: str, epsilon: Any, digits: int = 15, direction: str = "both"
    ) -> Enclosure:
        """Certified delta of any mechanism; computes, as :func:`dpexact.delta`."""
        import dpexact

        found: Enclosure = dpexact.delta(mechanism, epsilon, digits, direction)
        return found

    def renyi(
        self, mechanism: str, order: Any, digits: int = 15, direction: str = "both"
    ) -> Enclosure:
        """Certified Rényi divergence of any mechanism; computes, as :func:`dpexact.renyi`."""
        import dpexact

        return dpexact.renyi(mechanism, order, digits, direction)
