"""Values of an object that are computed when first asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

_T_co = TypeVar("_T_co", covariant=True)


class cached_property(functools.cached_property[_T_co]):  # noqa: N801, TID251  # as it is known
    """``functools.cached_property`` without the lock that it has before Python 3.12.

    That lock is one for all instances and is held while a value is computed. A thread that holds
    it and waits for FLINT's precision (:mod:`dpexact.balls`) and one that has the precision and
    asks for the same property of another instance would wait for each other for ever. Without it
    two threads may compute a value twice; either is as good.
    """

    def __init__(self, compute: Callable[[Any], _T_co]) -> None:
        super().__init__(compute)
        self.lock = nullcontext()
