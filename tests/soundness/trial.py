"""One trial of the campaign: questions asked of dpexact, and answers held against references."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import FrameType
from typing import Any

from mpmath import mp, mpf
from soundness import reference
from soundness.reference import Estimate, Mechanism, NoReference, as_mpf, precise

import dpexact
from dpexact import Enclosure, PrecisionNotReached, UnsupportedMechanism

#: Bits with which a reference starts, and beyond which it is not sharp.
FIRST_BITS = 400
MOST_BITS = 8000
#: A reference is sharp when its margin is below this share of the value or of the answer's width.
SHARP = 1e-6


class Failed(Exception):
    """A soundness failure."""


class Refused(Exception):
    """The library does not account for the mechanism, and says so."""


class TimeUp(BaseException):
    """A trial took its time of the processor."""


_late = False
_measuring = os.path.join("coverage", "")


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """At most ``seconds`` of the processor; only on the main thread."""
    global _late

    def stop(number: int, frame: FrameType | None) -> None:
        global _late
        if frame is not None and _measuring in frame.f_code.co_filename:
            # coverage would keep its lock for ever
            signal.setitimer(signal.ITIMER_PROF, 0.01)
            return
        _late = True
        raise TimeUp

    _late = False
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def shown_call(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    given = [repr(a) for a in arguments] + [f"{key}={value!r}" for key, value in options.items()]
    return f"dpexact.{name}({', '.join(given)})"


@dataclass
class Trial:
    """What was asked, and what became of it."""

    starving: bool = False
    calls: list[str] = field(default_factory=list)
    wide: bool = False
    skipped: bool = False
    late: bool = False
    asked: float = 0.0

    def ask(self, name: str, *arguments: Any, **options: Any) -> Any:
        """The answer of a public function; a partial one counts as its enclosure."""
        arguments = tuple(str(a) if isinstance(a, Mechanism) else a for a in arguments)
        return self.attempt(
            shown_call(name, arguments, options),
            lambda: getattr(dpexact, name)(*arguments, **options),
        )

    def attempt(self, call: str, compute: Callable[[], Any]) -> Any:
        self.calls.append(call)
        began = time.process_time()
        try:
            return compute()
        except TimeUp:
            self.late = True
            raise
        except SystemError as error:  # what a library makes of an interrupt in its callback
            if _late:
                self.late = True
                raise TimeUp from error
            raise Failed(f"SystemError: {error}") from error
        except PrecisionNotReached as error:
            self.wide = True
            if not isinstance(error.best, Enclosure):
                raise Failed(f"the best answer is no enclosure: {error.best!r}") from error
            return error.best
        except UnsupportedMechanism as error:
            raise Refused(str(error)) from error
        except Exception as error:
            if self.starving and "cannot tell the sign" in str(error):
                raise Refused(str(error)) from error
            raise Failed(f"{type(error).__name__}: {error}") from error
        finally:
            self.asked += time.process_time() - began

    # --- against references ---------------------------------------------------------------------

    def contains(self, found: Enclosure, truth: Callable[[], Estimate], what: str = "") -> None:
        """``found`` contains what ``truth`` computes at the precision that is set around it."""
        bits = FIRST_BITS
        while bits <= MOST_BITS:
            with precise(bits):
                value, margin = truth()
                low, high = as_mpf(found.lower, "f"), as_mpf(found.upper, "c")
                if value == mp.inf:
                    if high < mp.inf:
                        raise Failed(
                            f"{what}[{_short(low)}, {_short(high)}], the truth is infinite"
                        )
                    return
                if high < value - margin or low > value + margin:
                    raise Failed(
                        f"{what}[{_short(low)}, {_short(high)}], the truth is {_short(value)}"
                    )
                width = high - low
                if margin <= SHARP * width or margin <= mpf(10) ** -12 * abs(value):
                    return
                if margin < mpf(2) ** (-bits // 4) and value == 0:
                    return
            bits *= 3
        self.skipped = True

    def between(
        self, found: Enclosure, low: Callable[[], Estimate], high: Callable[[], Estimate]
    ) -> None:
        """``found`` reaches into what lies between two references."""
        with precise(MOST_BITS // 2):
            (one, blur), (two, more) = low(), high()
            if as_mpf(found.upper, "c") < one - blur or as_mpf(found.lower, "f") > two + more:
                raise Failed(f"{interval(found)}, the truth is from {_short(one)} to {_short(two)}")

    def holds(
        self, smaller: Callable[[], Estimate], larger: Callable[[], Estimate], why: str
    ) -> None:
        """``smaller <= larger``, for two references."""
        bits = FIRST_BITS
        while bits <= MOST_BITS:
            with precise(bits):
                (one, blur), (two, more) = smaller(), larger()
                if one - blur > two + more:
                    raise Failed(f"{why}: {_short(one)} > {_short(two)}")
                if one + blur <= two - more:
                    return
                if blur + more < mpf(2) ** (-bits // 4):
                    return
            bits *= 3
        self.skipped = True

    def contains_epsilon(
        self,
        found: Enclosure,
        mechanism: Mechanism,
        target: str,
        direction: str = "both",
        surplus: str | None = None,
    ) -> None:
        """``found`` contains the smallest epsilon at ``target = lost + surplus``."""
        try:
            self.contains(
                found,
                lambda: reference.epsilon(mechanism, target, direction, surplus),
                "epsilon in ",
            )
        except NoReference:
            self._ends(found, mechanism, target, direction, surplus)

    def _ends(
        self,
        found: Enclosure,
        mechanism: Mechanism,
        target: str,
        direction: str,
        surplus: str | None,
    ) -> None:
        """``delta(upper) <= target <= delta(lower)``, which decreases strictly where positive."""

        def level() -> Estimate:
            value = reference.number(target if surplus is None else surplus)
            return value, abs(value) * mpf(2) ** (-mp.prec // 2)

        def at(end: Fraction | float, rounding: str) -> Estimate:
            best: Estimate | None = None
            for add in mechanism.ways(direction):
                pair = mechanism.pair(add)
                if end == math.inf:
                    value: Estimate = (mpf(0), mpf(0))
                else:
                    value = pair.excess(mpf(1), mp.exp(as_mpf(end, rounding)))
                if surplus is None:
                    value = value[0] + pair.lost, value[1] + pair.lost * reference.unit()
                best = value if best is None else reference.larger(best, value)
            assert best is not None
            return best

        shown = f"epsilon in [{_bound(found.lower)}, {_bound(found.upper)}]"
        if found.upper < math.inf:
            self.holds(
                lambda: at(found.upper, "c"), level, f"{shown}, but delta exceeds the target above"
            )
        if found.lower > 0:
            self.holds(
                level, lambda: at(found.lower, "f"), f"{shown}, but delta meets the target below"
            )

    # --- against each other -----------------------------------------------------------------------

    def overlap(self, one: Enclosure, two: Enclosure, why: str) -> None:
        if not one.overlaps(two):
            raise Failed(f"{why}: {interval(one)} and {interval(two)} do not meet")

    def ordered(self, smaller: Enclosure, larger: Enclosure, why: str) -> None:
        if smaller.lower > larger.upper:
            raise Failed(f"{why}: {interval(smaller)} lies above {interval(larger)}")


def interval(x: Enclosure) -> str:
    """Both bounds, shortened, whatever their length."""
    return f"[{_bound(x.lower)}, {_bound(x.upper)}]"


def _bound(x: Fraction | float) -> str:
    with precise(100):
        return _short(as_mpf(x, "n"))


def _short(x: Any) -> str:
    return str(mp.nstr(x, 15))
