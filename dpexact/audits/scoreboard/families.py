"""Families of mechanisms: what their noise is, and whether they run on samples."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from dpexact.mechanisms import Mechanism

_KINDS: Final = {
    "gaussian": "Gaussian",
    "gdp": "Gaussian",
    "laplace": "Laplace",
    "discrete_laplace": "integer noise",
    "discrete_gaussian": "integer noise",
    "approx_dp": "guarantees",
    "pure_dp": "guarantees",
}


def family(mechanism: Mechanism) -> str:
    """The family of ``mechanism``, however often it runs; ``mixed`` where there are several.

    >>> from dpexact import parse
    >>> family(parse("poisson(gaussian(1), 1/10)^100")), family(parse("gaussian(1) * laplace(2)"))
    ('samples of Gaussian', 'mixed')
    """
    kinds = {_kind(step) for step in mechanism.steps()}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _kind(step: Mechanism) -> str:
    for parameter in fields(step):
        inner = getattr(step, parameter.name)
        if isinstance(inner, Mechanism):
            return f"samples of {family(inner)}"
    return _KINDS.get(step.name, step.name)
