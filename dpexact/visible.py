"""Foreign text made harmless to show: nothing in it moves a cursor or turns the reading order."""

from __future__ import annotations

import unicodedata
from typing import Final

#: Unicode categories that print nothing of their own: controls, formats (also the bidirectional
#: ones), lone surrogates, and line and paragraph separators.
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""``text`` on one line, with every invisible character written as an escape.

    >>> visible("one\x1b[2Jtwo")
    'one\\x1b[2Jtwo'
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN and not _is_noncharacter(ord(character)):
        return character
    return " " if character in "\t\n" else character.encode("unicode_escape").decode()


def _is_noncharacter(code: int) -> bool:
    """Whether Unicode will never assign ``code``, as U+FFFE; XML forbids some of these."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
