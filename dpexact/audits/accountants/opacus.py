"""Opacus: its three accountants, loaded without the package around them, and so without torch."""

from __future__ import annotations

from typing import Any, Final

#: The package imports torch, its accountants do not: these packages are made by hand, without
#: running their own ``__init__``, and with a stand-in for the one class that accountants name.
_HOLLOW: Final = ("opacus", "opacus.accountants")


class OpacusAccountant:
    """One accountant of ``opacus.accountants``: Poisson-sampled Gaussians, epsilon at delta.

    Users take its epsilon for add/remove neighbours; it computes the remove direction.
    """

    distributions: tuple[str, ...] = ("opacus",)
    module = "scipy.optimize"
    install = "--no-deps opacus scipy"
    refusals: tuple[str, ...] = ("Floating point errors will dominate", "Discrete mean differs")

    def __init__(
        self, name: str, file: str, function: str, kind: str, one_step: bool, sentence: str
    ) -> None:
        self.name = name
        self._promise = {"sentence": sentence, "where": f"opacus 1.6.0, accountants/{file}.py"}
        self.kinds: tuple[str] = (kind,)
        self._file, self._class, self._one_step = file, function, one_step

    def contract(self, query: dict[str, Any], kind: str) -> dict[str, Any]:
        return {**self._promise, "relation": "add/remove"}

    def supports(self, query: dict[str, Any]) -> bool:
        history = _history(query["steps"])
        return (
            query["quantity"] == "epsilon"
            and query["direction"] != "add"
            and history is not None
            and not (self._one_step and len(history) > 1)
        )

    def call(self, query: dict[str, Any]) -> str:
        history = _history(query["steps"])
        return f"{self._class}(), history = {history!r}, get_epsilon(delta={query['at']!r})"

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        import importlib

        _prepare()
        module = importlib.import_module(f"opacus.accountants.{self._file}")
        accountant = getattr(module, self._class)()
        accountant.history = _history(query["steps"])
        return [{"kind": self.kinds[0], "value": accountant.get_epsilon(delta=query["at"])}]


def _history(steps: list[list[Any]]) -> list[tuple[float, float, int]] | None:
    """The steps as (noise multiplier, sample rate, number), if all are sampled Gaussians."""
    history = []
    for tree, times in steps:
        match tree:
            case {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity}:
                history.append((sigma / sensitivity, 1.0, times))
            case {
                "name": "poisson",
                "mechanism": {"name": "gaussian", "sigma": sigma, "sensitivity": sensitivity},
                "q": q,
            } if q > 0:
                history.append((sigma / sensitivity, q, times))
            case {"name": "gdp", "mu": mu} if mu > 0:
                history.append((1.0 / mu, 1.0, times))
            case _:
                return None
    return history


def _prepare() -> None:
    import sys
    from importlib import metadata
    from types import ModuleType

    if "opacus" in sys.modules:
        return
    for name in _HOLLOW:
        hollow = ModuleType(name)
        folder = metadata.distribution("opacus").locate_file(name.replace(".", "/"))
        hollow.__path__ = [str(folder)]
        sys.modules[name] = hollow
    optimizers: Any = ModuleType("opacus.optimizers")
    optimizers.DPOptimizer = object
    sys.modules["opacus.optimizers"] = optimizers


RDP: Final = OpacusAccountant(
    "opacus-rdp",
    "rdp",
    "RDPAccountant",
    "upper",
    False,
    "Return privacy budget (epsilon) expended so far.",
)
GDP: Final = OpacusAccountant(
    "opacus-gdp",
    "gdp",
    "GaussianAccountant",
    "estimate",
    True,
    "Applies the Dual and Central Limit Theorem (CLT) to estimate privacy budget of an iterated "
    "subsampled Gaussian Mechanism",
)
PRV: Final = OpacusAccountant(
    "opacus-prv",
    "prv",
    "PRVAccountant",
    "upper",
    False,
    "return upper bound as we want guarantee, not just estimate",
)
