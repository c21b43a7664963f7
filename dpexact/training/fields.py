"""The fields of an event of dp-accounting, be it an object or serialised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpexact.errors import InvalidInput
from dpexact.tokens import quoted


class _Members(dict[str, Any]):
    """Those of a serialised event, and which of them were given and not read yet."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        given = {name for name, value in members.items() if value is not None}
        self.unread = given - {"class_name", "module_name"}

    def get(self, name: str, default: Any = None) -> Any:
        self.unread.discard(name)
        return super().get(name, default)


def opened(event: object) -> object:
    """``event``; if it is serialised, such that :func:`all_read` can tell."""
    members = event._asdict() if hasattr(event, "_asdict") else event
    return _Members(members) if isinstance(members, Mapping) else event


def all_read(event: object) -> None:
    """Refuse what holds a member that nobody read: it may have been meant to say something.

    Raises:
        InvalidInput: ``event`` is serialised and holds one.
    """
    if isinstance(event, _Members) and event.unread:
        raise InvalidInput(f"event: {name_of(event)} has no {quoted(min(event.unread, key=str))}")


def name_of(event: object) -> Any:
    """The name of its class."""
    return field(event, "class_name", type(event).__name__)


def field(event: object, name: str, default: Any = None) -> Any:
    """A field; one that is None is one that is not given."""
    found = event.get(name) if isinstance(event, Mapping) else getattr(event, name, None)
    found = default if found is None else found
    if found is None:
        raise InvalidInput(f"event: {quoted(event)} has no {name}")
    return found


def listed(event: object, name: str) -> Sequence[Any]:
    """A field that is a list."""
    found = field(event, name)
    if hasattr(found, "tolist"):  # an array of numpy
        found = found.tolist()
    if not isinstance(found, list | tuple):
        raise InvalidInput(f"{name}: {quoted(found)} is not a list")
    return found
