"""Budgets and precisions cut at random, so that the engines fall short of the digits asked for.

What they certified on the way must contain the truth all the same.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

import dpexact

#: Module, name, and the values it may be cut to. A name counts wherever it was imported to, and as
#: the default of an argument.
CUTS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("balls", "GUARD_BITS", (0, 2, 8)),
    ("balls", "CAP_FACTOR", (1, 2)),
    ("balls", "CAP_EXTRA", (64, 128, 512)),
    ("accounting.engines.few_atoms", "MAX_TYPES", (0, 3, 40)),
    ("accounting.profile", "EXACT_BITS", (0, 64)),
    ("accounting.pairs.lattice", "MAX_COMBINATIONS", (4, 40)),
    ("accounting.engines.tangents", "_EXACT_WORK", (0,)),
    ("accounting.engines.lattice.profile", "WORK", (0, 10**4, 10**6)),
    ("accounting.routes", "_GLANCE_WORK", (0, 10**4)),
    ("accounting.symmetric_hull", "_PLAIN_WORK", (0, 10**4)),
    ("accounting.symmetric_hull", "_HIDDEN_WORK", (0, 10**5)),
    ("accounting.symmetric_hull", "_LATTICE_WORK", (0, 10**5)),
    ("accounting.binomial", "_POINT", (0, 10**6)),
    ("accounting.routes", "MAX_TERMS", (0, 3)),
    ("accounting.engines.laplace.sums", "MAX_TERMS", (1, 30)),
    ("accounting.engines.laplace.sums", "FEW_TERMS", (1, 30)),
    ("accounting.engines.laplace.split", "_WORK", (0, 10**4)),
    ("accounting.engines.laplace.cells", "_MOST", (0, 200)),
    ("accounting.engines.laplace.cells", "_MOST_STEPS", (0, 10**4)),
    ("accounting.engines.laplace.cells", "_CAP", (64, 100)),
    ("accounting.engines.laplace.cells", "_SPARE", (0, 50)),
    ("accounting.pairs.sampled_laplace", "_MAX_NODES", (4, 100)),
    ("accounting.pairs.sums.splines", "_MOST_KNOTS", (1, 5)),
    ("accounting.pairs.sums.splines", "_MOST_BITS", (0,)),
    ("accounting.inverted", "_MAX_DOUBLINGS", (0, 2, 8)),
    ("accounting.chords", "_TURNS", (0, 1)),
    ("accounting.levels.polygon", "_ROUNDS", (0, 2)),
    ("accounting.levels.polygon", "_REFINEMENTS", (0, 3)),
    ("accounting.chords", "_LEAPS", ((1,),)),
    ("accounting.pairs.sums.far_nodes", "MAX_WORK", (0, 600)),
    ("accounting.pairs.sums.far_nodes", "MAX_KEPT", (0, 1)),
    ("accounting.engines.contour.atoms", "_WORK", (0, 10**5)),
    ("accounting.engines.contour.blurs", "_TRIALS", (1, 3)),
    ("accounting.engines.heterogeneous.meet_in_the_middle", "MAX_HALF", (1, 4)),
    ("accounting.engines.heterogeneous.meet_in_the_middle", "_MAX_BITS", (64,)),
    ("accounting.engines.gaussian_twice", "_MOST_NODES", (0, 40)),
    ("accounting.engines.hull_twice", "_MOST_EVALUATIONS", (1, 60, 300)),
    ("accounting.engines.one_integral", "_MOST_EVALUATIONS", (1, 60, 300)),
    ("accounting.engines.lattice_law", "_BRIEF_WORK", (0, 10**4)),
    ("accounting.engines.averaged", "_LINE_WORK", (0, 10**4)),
    ("accounting.engines.averaged", "_LARGEST_LOG", (0.0, 20.0)),
    ("accounting.engines.averaged", "_FIRST", (1, 3)),
    ("accounting.engines.many_types", "MAX_TYPES", (0, 9, 300)),
    ("accounting.engines.many_types", "_RARE", (40, 90)),
    ("accounting.engines.heterogeneous.counts", "MAX_DEGREE", (1, 8)),
    ("accounting.engines.lattice_product", "SHORT", (0, 8)),
    ("accounting.engines.lattice_circle", "MOST_BOUNDS", (-1000, 0)),
    ("accounting.engines.lattice_circle", "_TRIES", (0, 2)),
    ("accounting.engines.tangents", "_ROUNDS", (1, 3, 6)),
    ("accounting.engines.heterogeneous.grid", "MAX_POINTS", (1 << 8, 1 << 12)),
    ("accounting.engines.heterogeneous.refinement", "WORK", (10**4, 10**6)),
    ("accounting.engines.lattice.engine", "WORK", (0, 10**5)),
    ("accounting.engines.lattice.engine", "MAX_BITS", (40, 140)),
    ("accounting.engines.lattice.engine", "FIRST_TAIL_BITS", (10, 40)),
    ("accounting.engines.lattice.grid", "GUARD_BITS", (4, 12)),
    ("accounting.engines.lattice.profile", "_BISECTIONS", (1, 6)),
    ("accounting.engines.contour.profile", "MAX_WORK", (0, 10**4, 10**6)),
    ("accounting.engines.contour.profile", "ATTEMPTS", (1,)),
    ("accounting.engines.contour.profile", "_MOST_PASSES", (1,)),
    ("accounting.engines.contour.many", "_NEWTON_STEPS", (1, 3)),
    ("accounting.engines.contour.profile", "_BISECTIONS", (1,)),
    ("accounting.engines.rare.planning", "_SPARE", (0, 10)),
    ("accounting.engines.rare.lines", "_HIGHER", (0.3, 0.8)),
    ("accounting.engines.rare.planning", "_LITTLE_WORK", (0, 10**9)),
    ("accounting.engines.rare.planning", "_ALIKE", (0.0, 100.0)),
    ("accounting.engines.rare.planning", "_LOUD", (0.0, 5.0)),
    ("accounting.engines.rare.planning", "_ROOM", (0.0, 5.0)),
    ("accounting.engines.rare.lines", "_TINY", (0.0, 1.0)),
    ("accounting.engines.rare.edges", "_OF_POWER", (10.0, 1e4)),
    ("accounting.engines.rare.edges", "_OF_PART", (10.0, 1e4)),
    ("accounting.pairs.sums.mixture_rules", "MAX_NODES", (50, 400)),
    ("accounting.pairs.sums.mixture_rules", "MOST_NODES", (10, 200)),
    ("accounting.renyi.sampled_gaussian", "ATTEMPTS", (1,)),
    ("accounting.renyi.sampled_gaussian", "MAX_TERMS", (4, 60)),
    ("accounting.renyi.sampled_gaussian", "MAX_BITS", (60, 200)),
    ("accounting.renyi.averages", "MAX_EVALUATIONS", (2, 40)),
)

#: Numbers below ``2^-n`` are not resolved: this changes two names at once.
_EXPONENTS = (60, 200, 2000)


def _modules() -> list[ModuleType]:
    names = [m.name for m in pkgutil.walk_packages(dpexact.__path__, "dpexact.")]
    rooms = ("dpexact.balls", "dpexact.accounting", "dpexact.tradeoffs", "dpexact.exactness")
    return [importlib.import_module(name) for name in names if name.startswith(rooms)]


def _functions(modules: list[ModuleType]) -> list[FunctionType]:
    found = []
    for module in modules:
        for value in vars(module).values():
            if inspect.isfunction(value):
                found.append(value)
            elif inspect.isclass(value):
                found += [f for f in vars(value).values() if inspect.isfunction(f)]
    return list({id(f): f for f in found if f.__module__.startswith("dpexact")}.values())


def _places() -> dict[tuple[str, str], list[tuple[str, Any, Any]]]:
    """Where each value lives: names of modules, and defaults of arguments."""
    modules = _modules()
    functions = _functions(modules)
    found: dict[tuple[str, str], list[tuple[str, Any, Any]]] = {}
    missing = []
    for room, name, _ in CUTS:
        try:
            value = getattr(importlib.import_module(f"dpexact.{room}"), name)
        except (ImportError, AttributeError):
            missing.append(f"dpexact.{room}.{name}")
            continue
        places: list[tuple[str, Any, Any]] = []
        for module in modules:
            for other, held in vars(module).items():
                here = module.__name__ == f"dpexact.{room}"
                alias = other == name if here else other.endswith(name.lstrip("_"))
                if alias and type(held) is int and held == value:
                    places.append(("name", module, other))
        for function in functions:
            for i, default in enumerate(function.__defaults__ or ()):
                if type(default) is int and default == value and value > 5000:
                    places.append(("default", function, i))
        found[room, name] = places
    if missing:
        raise LookupError(
            "starvation cuts names that are gone: " + ", ".join(missing) + "; see CUTS in "
            "tests/soundness/starvation.py"
        )
    return found


_found: dict[tuple[str, str], list[tuple[str, Any, Any]]] = {}


def prepare() -> None:
    """Find all that is cut.

    Raises:
        LookupError: naming what is gone.
    """
    if not _found:
        _found.update(_places())


def _write(kind: str, holder: Any, key: Any, value: Any) -> Any:
    """The value before."""
    if kind == "name":
        before = getattr(holder, key)
        setattr(holder, key, value)
        return before
    defaults = list(holder.__defaults__)
    before, defaults[key] = defaults[key], value
    holder.__defaults__ = tuple(defaults)
    return before


@contextmanager
def starved(seed: str) -> Iterator[dict[str, int]]:
    """Random cuts while the block runs; gives what was cut to what."""
    from dpexact import balls

    prepare()
    rng = random.Random(seed)
    share = rng.choice((0.1, 0.4, 0.9))
    cuts: dict[str, int] = {}
    undo: list[tuple[str, Any, Any, Any]] = []
    try:
        for room, name, values in CUTS:
            if rng.random() < share:
                value = rng.choice(values)
                cuts[f"{room}.{name}"] = value
                for kind, holder, key in _found[room, name]:
                    undo.append((kind, holder, key, _write(kind, holder, key, value)))
        if rng.random() < 0.15:
            exponent = rng.choice(_EXPONENTS)
            cuts["balls.MAX_EXPONENT"] = exponent
            for name, value in (
                ("MAX_EXPONENT", exponent),
                ("TINY", Fraction(1, 1 << exponent)),
            ):
                undo.append(("name", balls, name, _write("name", balls, name, value)))
        yield cuts
    finally:
        for kind, holder, key, value in reversed(undo):
            _write(kind, holder, key, value)
