r"""Noise on a Poisson sample, by one function of its law.

With ``w(l) = 1 - q + q e^l``, ``l`` the loss of the noise, the loss is ``log w(l)`` where a record
is removed and ``-log w(l)`` where it is added. So both moments are values of :math:`F(t) =
E_Q[w^t]`, at ``t = 1 + s`` and at ``t = -s``, taken by a rule: points, weights and an error.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import NamedTuple, TypeVar

import numpy as np
from flint import acb, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.pair import Jet, Pair, Turns
from dpexact.accounting.pairs.sums.power_sums import exponential_line
from dpexact.balls import ball
from dpexact.reals import Real

_Number = TypeVar("_Number", float, arb)


class Rule(NamedTuple):
    """Weights and values of ``log w`` of a sum for ``F``, and a ball around 0 with its error."""

    weights: list[arb]
    logs: list[arb]
    error: arb

    def total(self, power: arb) -> arb:
        """``F(power)``, for a real power that the rule is for."""
        terms = zip(self.weights, self.logs, strict=True)
        return sum((weight * (power * log).exp() for weight, log in terms), arb(0)) + self.error


class OnSample(Pair):
    """A pair whose moments are sums of exponentials."""

    has_outline = True

    removes: bool

    @abstractmethod
    def _listed(self, power: float) -> Floats:
        """About the law under ``Q`` where ``w^power`` is large: ``log mass``, ``log w``."""

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """One rule for all nodes, as one product of matrices."""
        # proposes: how fine the rule is; its error is bounded for the heights of all nodes
        return exponential_line(*self.exponentials(c, count * step, accuracy), step, count)

    def _power(self, s: _Number) -> _Number:
        """``Re t`` of an order."""
        return 1 + s if self.removes else -s

    # --- proposals --------------------------------------------------------------------------------

    def outline(self, c: float) -> list[tuple[float, float]]:
        """The rule in floats, tilted."""
        logs, losses = self._tilted(c)
        return list(zip(logs.tolist(), losses.tolist(), strict=True))

    def cumulant(self, c: float) -> Jet:
        """The tilted law in floats."""
        return _jet(*self._tilted(c))

    def _tilted(self, c: float) -> tuple[Floats, Floats]:
        """Proposes: about the logarithms of masses, and losses."""
        power = self._power(c)
        logs, losses = self._listed(power)
        return logs + power * losses, losses if self.removes else -losses

    def _about(self, power: float) -> Jet:
        """About ``log F`` at a real ``power`` and two derivatives."""
        logs, losses = self._listed(power)
        return _jet(logs + power * losses, losses)


class ByRule(OnSample):
    """A pair that a rule for ``F`` describes."""

    @abstractmethod
    def _rule(self, power: arb, top: float, accuracy: float) -> Rule:
        """For every ``t`` of real part ``power`` and ``|Im t| <= top``."""

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """By the rule for the real axis."""
        power = self._power(ball(c))
        return self._rule(power, 0.0, accuracy).total(power)

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        """The rule with its weights tilted, and the losses."""
        power = self._power(arb(c))
        rule = self._rule(power, top, accuracy)
        pairs = zip(rule.weights, rule.logs, strict=True)
        sign = 1 if self.removes else -1
        return [(acb(w * (power * log).exp()), acb(sign * log)) for w, log in pairs], rule.error


def _jet(logs: Floats, losses: Floats) -> Jet:
    """As :func:`finite.tilted`, of arrays: laws of few outcomes start without numpy."""
    top = float(logs.max())
    weights = np.exp(logs - top)
    total = float(weights.sum())
    weights /= total
    mean = float(weights @ losses)
    return Jet(top + math.log(total), mean, float(weights @ (losses - mean) ** 2))
