"""What became of asking an accountant: the cases it answered, could not be asked, or failed at."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Failure:
    """An accountant that gave no usable answer to a case: it crashed, hung or returned NaN.

    ``case`` and ``call`` say what was asked, in our terms and in the package's; ``reason`` what
    happened, on one line. ``refused`` if the package said itself that it cannot answer.
    """

    case: str
    call: str
    reason: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Skip:
    """A case that an accountant was not asked, and why."""

    case: str
    reason: str


@dataclass(frozen=True, slots=True)
class AccountantRun:
    """One accountant in one audit.

    ``reason`` is not empty where it could not run at all (absent or broken package); then nothing
    was asked. ``python`` is the interpreter that ran it, empty for this one. ``platform`` names
    what floats depend on beside the package: ``processor``, ``python``, ``numpy``, ``scipy`` and
    ``vectors``, the vector instructions that numpy uses, where these are known.
    """

    name: str
    versions: dict[str, str] = field(default_factory=dict)
    python: str = ""
    asked: int = 0
    skipped: tuple[Skip, ...] = ()
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    reason: str = ""
    platform: dict[str, str] = field(default_factory=dict)

    @property
    def computed_on(self) -> str:
        """The ``platform`` in words.

        >>> AccountantRun("mine", platform={"processor": "Z80", "numpy": "2.4.6"}).computed_on
        'computed on processor Z80, numpy 2.4.6'
        """
        parts = [f"{name} {value or 'none'}" for name, value in self.platform.items()]
        return f"computed on {', '.join(parts)}" if parts else ""

    @property
    def refused(self) -> int:
        """How many cases have an honest refusal."""
        return sum(failure.refused for failure in self.failures)

    @property
    def failed(self) -> int:
        """How many cases have neither an answer nor that."""
        return len(self.failures) - self.refused
