"""Values that are computed once an object, and hold no lock meanwhile."""

import threading

from dpexact import balls
from dpexact.kept import cached_property


class Noted:
    def __init__(self) -> None:
        self.computed = 0
        self.begun = threading.Event()

    @cached_property
    def value(self) -> int:
        """The precision that a computation has."""
        self.computed += 1
        self.begun.set()
        with balls.precision(77):
            return balls.current()


def test_a_value_is_computed_once() -> None:
    one = Noted()
    assert [one.value, one.value, one.computed] == [77, 77, 1]
    assert isinstance(Noted.value, cached_property)


def test_who_waits_for_the_precision_keeps_no_value_from_who_has_it() -> None:
    """Python 3.11 computes such values under one lock for all objects of a class."""
    one, two = Noted(), Noted()
    waiting = threading.Thread(target=lambda: one.value, daemon=True)
    found: list[int] = []

    def ask() -> None:
        with balls.precision(100):
            waiting.start()  # it will wait for the precision, in the midst of its value
            assert one.begun.wait(20)
            found.append(two.value)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(20)
    assert found == [77]
    waiting.join(20)
    assert one.value == 77
