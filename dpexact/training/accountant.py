"""An accountant for programs that were written for those of dp-accounting."""

from __future__ import annotations

import math
from typing import Any, Final

try:
    from dp_accounting import NeighboringRelation, PrivacyAccountant, dp_event
except ImportError as error:
    raise ImportError(
        'CertifiedAccountant needs dp-accounting: pip install "dpexact[accountants]"'
    ) from error

from dpexact.accounting.profiles import profile
from dpexact.accounting.queries import delta, epsilon
from dpexact.answers import best_of
from dpexact.arguments import digits_in
from dpexact.decimals import float_up
from dpexact.errors import DpexactError
from dpexact.mechanisms import Mechanism
from dpexact.training.events import Neighbours, UnsupportedEvent, from_dp_event

_NEIGHBOURS: Final[dict[NeighboringRelation, Neighbours]] = {
    NeighboringRelation.ADD_OR_REMOVE_ONE: "add-remove",
    NeighboringRelation.REPLACE_SPECIAL: "zero-out",
    NeighboringRelation.REPLACE_ONE: "replace",
}
#: Digits with which the mass of infinite loss is asked for.
_DIGITS_OF_MASS: Final = 17


class CertifiedAccountant(PrivacyAccountant):  # type: ignore[misc]
    """A ``dp_accounting.PrivacyAccountant`` whose answers are certified upper bounds.

    ``get_epsilon`` and ``get_delta`` return the smallest float that is certainly not below the
    truth: next to it in ``digits`` digits, or, where so many cannot be certified, a looser upper
    bound. ``mechanism`` is what was composed, for any other question. After a
    ``NonPrivateDpEvent`` epsilon is infinite and delta 1, whatever is asked, as dp-accounting asks
    of every accountant.

    Args:
        neighboring_relation: any of dp-accounting's.
        digits: certified significant digits of each answer.

    >>> import dp_accounting
    >>> accountant = CertifiedAccountant()
    >>> step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
    >>> round(accountant.compose(step, 1000).get_epsilon(1e-5), 4)
    1.8282
    """

    def __init__(
        self,
        neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
        digits: int = 15,
    ) -> None:
        super().__init__(NeighboringRelation(neighboring_relation))
        self._digits = digits_in(digits)

    @property
    def mechanism(self) -> Mechanism:
        """What was composed so far."""
        return self._mechanism(self.ledger)

    def get_epsilon(self, target_delta: float) -> float:
        mechanism = self.mechanism
        found = best_of(lambda: epsilon(mechanism, target_delta, self._digits))
        return math.inf if _not_private(self.ledger) else float_up(found.of_truth().upper)

    def get_delta(self, target_epsilon: float) -> float:
        mechanism = self.mechanism
        if target_epsilon == math.inf:
            infinite = profile(mechanism).infinite
            return float_up(infinite.enclose(_DIGITS_OF_MASS, "").upper)
        found = best_of(lambda: delta(mechanism, target_epsilon, self._digits))
        return float_up(found.of_truth().upper)

    def _mechanism(self, event: dp_event.DpEvent) -> Mechanism:
        return from_dp_event(event, neighbours=_NEIGHBOURS[self.neighboring_relation])

    def _maybe_compose(self, event: dp_event.DpEvent, count: int, do_compose: bool) -> Any:
        """What is wrong with ``event``, or None; the ledger of the base class holds the rest."""
        if do_compose:
            return None
        try:
            profile(self._mechanism(event))
        except UnsupportedEvent as error:
            return self.CompositionErrorDetails(error.event, str(error))
        except DpexactError as error:
            return self.CompositionErrorDetails(event, str(error))
        return None


def _not_private(event: dp_event.DpEvent) -> bool:
    """Whether a ``NonPrivateDpEvent`` runs on the whole data."""
    if isinstance(event, dp_event.SelfComposedDpEvent):
        return event.count > 0 and _not_private(event.event)
    if isinstance(event, dp_event.ComposedDpEvent):
        return any(map(_not_private, event.events))
    return isinstance(event, dp_event.NonPrivateDpEvent)
