"""What fixes an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from dpexact.accounting.engines.rare.law import Rule
from dpexact.accounting.engines.rare.windows import Window


@dataclass(frozen=True)
class RowPlan:
    """What is of each row: the height of its decay, over ``sigma``, its rules and its cells."""

    angle: float
    near_rule: Rule | None
    rule: Rule
    #: For the masses of what is far, unless it is so rare that it does not matter, and, beside what
    #: is near, in the middle; and of what is tiny.
    real_rules: tuple[Rule | None, Rule]
    edges: tuple[float, ...]
    tiny_rule: Rule | None = None
    #: How many powers of tiny losses, and of large ones.
    terms: tuple[int, int] = (0, 0)
    #: The height, over ``sigma``, of the decay of powers.
    power_angle: float = 0.0


@dataclass(frozen=True)
class Plan:
    """Everything that fixes an evaluation: it decides width and cost, never truth."""

    add: bool
    #: Of losses whose powers are summed, as are those in the middle then.
    tiny: Window | None
    near: Window | None
    middle: Window
    far: Window
    abscissa: float
    step: float
    count: int
    #: The node up to which powers bound the decay, and beyond which cells do.
    most: int
    #: The orders of the bounds on what is far, near, and beyond the period, above and below; the
    #: last is 0 where the period exceeds the gap, and nothing is below.
    orders: tuple[float, float, float, float]
    rows: tuple[RowPlan, ...]
    bits: int
    #: Those of the masses of what is far.
    far_bits: int
    work: float
