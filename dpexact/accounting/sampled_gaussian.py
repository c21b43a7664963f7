"""One Gaussian on samples and nothing else: the engines that know it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dpexact.accounting.composition import Composition
from dpexact.arguments import Direction

if TYPE_CHECKING:
    from dpexact.accounting.loud_samples import LoudSamples
    from dpexact.accounting.rare.profile import RareProfile


def windows_of(c: Composition, direction: Direction) -> RareProfile | None:
    """The engine that sorts its losses by size."""
    if len(c.samples) != 1 or not replace(c, samples=[]).is_empty:
        return None
    ((sample, count),) = c.samples
    inner = sample.inner
    if not inner.is_gaussian or inner.noise is None:
        return None
    from dpexact.accounting.rare.profile import RareProfile

    return RareProfile(inner.noise, sample.q, count, direction == "add")


def loud_of(c: Composition, direction: Direction) -> LoudSamples | None:
    """Of a few steps of little noise: how often the record takes part tells the loss."""
    windows = windows_of(c, direction)
    if windows is None:
        return None
    from dpexact.accounting.loud_samples import LoudSamples

    sigma, q, count = windows.sigma, windows.q, windows.count
    # proposes: which engine is asked; each encloses
    if count == 1 or not LoudSamples.takes(sigma, q, count):
        return None
    return LoudSamples(sigma, q, count, windows.add)
