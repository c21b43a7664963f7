"""What the fields of the page say: the same text in its address, and as a command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from dpexact.errors import InvalidInput
from dpexact.tokens import quoted, unknown
from dpexact.training.frameworks import FRAMEWORKS, SAMPLINGS

#: What fields of a choice accept; the first is meant where an address leaves the field out.
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "mode": ("run", "expression"),
    "framework": FRAMEWORKS,
    "counted": ("dataset", "rate"),
    "noise": ("sigma", "target-epsilon"),
    "sampling": SAMPLINGS,
    "microbatches": ("", "yes"),
    "question": ("epsilon", "delta"),
    "direction": ("both", "remove", "add"),
}
#: What fields of text hold in a page without a question.
EXAMPLE: Final[dict[str, str]] = {
    "dataset": "60000",
    "batch": "256",
    "epochs": "60",
    "rate": "1/235",
    "steps": "14100",
    "sigma": "1.1",
    "target-epsilon": "3",
    "expr": "poisson(gaussian(1.3), 1/100)^500",
    "epsilon": "1",
    "delta": "1e-5",
}
#: The choices with which a field counts; one of those between bars, where there are bars.
WHEN: Final[dict[str, str]] = {
    "framework": "mode=run",
    "counted": "mode=run",
    "dataset": "mode=run counted=dataset",
    "batch": "mode=run counted=dataset",
    "epochs": "mode=run counted=dataset",
    "rate": "mode=run counted=rate",
    "steps": "mode=run counted=rate",
    "noise": "mode=run",
    "sigma": "mode=run noise=sigma",
    "target-epsilon": "mode=run noise=target-epsilon",
    "sampling": "mode=run",
    "microbatches": "mode=run",
    "expr": "mode=expression",
    "question": "mode=expression",
    "epsilon": "mode=expression question=delta",
    "delta": "mode=run | question=epsilon",
}
#: Longest text of all fields together, in characters.
MAX_TEXT: Final = 16_000

#: The fields that the command line has as options, in the order in which one writes them.
_OPTIONS: Final = (
    *("framework", "dataset", "batch", "epochs", "rate", "steps", "sigma", "target-epsilon"),
    *("sampling", "microbatches", "epsilon", "delta", "direction"),
)
_ORDER: Final = ("mode", "counted", "noise", "question", "expr", *_OPTIONS)


@dataclass(frozen=True, slots=True)
class Form:
    """All fields of the page, with their values.

    >>> form = Form.of({"mode": "expression", "expr": "gaussian(1)", "delta": "1e-5"})
    >>> form.command
    "dpexact epsilon 'gaussian(1)' --delta 1e-5"
    """

    fields: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Form:
        """The form of an address with these fields; without any, that of an example.

        Raises:
            InvalidInput: an unknown field or choice, or too long a text.
        """
        values = {name: value.strip() for name, value in given.items()}
        known = [*CHOICES, *EXAMPLE]
        for name in values:
            if name not in known:
                raise InvalidInput(unknown("field", name, known))
        if sum(map(len, values.values())) > MAX_TEXT:
            raise InvalidInput(f"the fields are too long together (limit {MAX_TEXT} characters)")
        if not values:
            values = {"framework": "opacus", **EXAMPLE}
        for name, accepted in CHOICES.items():
            if (value := values.setdefault(name, accepted[0])) not in accepted:
                use = ", ".join(map(repr, accepted))
                raise InvalidInput(f"{name}: {quoted(value)} is not accepted; use {use}")
        for name, text in EXAMPLE.items():
            # what counts and was left out is missing; what does not count may be proposed
            values.setdefault(name, "" if _counts(name, values) else text)
        return cls(tuple(values.items()))

    def __getitem__(self, name: str) -> str:
        return dict(self.fields)[name]

    def text(self, name: str) -> str:
        """A field of text that must not be empty.

        Raises:
            InvalidInput: it is.
        """
        if not (value := self[name]):
            raise InvalidInput(f"{name}: empty; write for example {EXAMPLE[name]}")
        return value

    def counts(self, name: str) -> bool:
        """Whether the field counts with the choices that are made."""
        return _counts(name, dict(self.fields))

    @property
    def address(self) -> str:
        """The query of the page's address that gives the same answers again."""
        return urlencode([(name, self[name]) for name in _ORDER if self.counts(name)])

    @property
    def command(self) -> str:
        """The command line that asks the same."""
        return shlex.join(["dpexact", *self._words()])

    def _words(self) -> Iterator[str]:
        if self["mode"] == "run":
            yield "dpsgd"
        else:
            yield from (self["question"], self["expr"])
        for name in _OPTIONS:
            usual = CHOICES[name][0] if name in CHOICES else None
            if self.counts(name) and self[name] != usual:
                yield f"--{name}"
                if name != "microbatches":  # a flag
                    yield self[name]


def _counts(name: str, values: Mapping[str, str]) -> bool:
    return any(
        all(values[choice] == wanted for choice, _, wanted in (c.partition("=") for c in case))
        for case in (text.split() for text in WHEN.get(name, "").split("|"))
    )
