"""What a figure is, and the decorator that registers one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from dpexact.figures.computing import Workshop
from dpexact.figures.model import FigureData, Panel
from dpexact.figures.parameters import Parameter, Settings, settings

Compute: TypeAlias = Callable[..., tuple[Panel, ...]]
"""From the workshop and, by name, the value of each parameter to the panels."""

_AS_IN_THE_SOURCE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a figure is made.

    ``title`` and ``caption`` are as in :class:`~dpexact.figures.model.FigureData`, with the names
    of ``parameters`` in braces where their values go.
    """

    name: str
    title: str
    source: str
    caption: str
    parameters: Mapping[str, Parameter]
    compute: Compute

    @property
    def usual_title(self) -> str:
        """The title with the parameters of the source."""
        return self.title.format(**self.settings().texts)

    def settings(self, given: Mapping[str, str] = _AS_IN_THE_SOURCE) -> Settings:
        """The values of the parameters, some of them ``given`` as texts.

        Raises:
            InvalidInput: an unknown name, or a value out of its domain.
        """
        return settings(self.name, self.parameters, given)

    def make(self, workshop: Workshop, given: Mapping[str, str] = _AS_IN_THE_SOURCE) -> FigureData:
        """The figure's certified data, with the parameters ``given`` and else those of the source.

        Raises:
            InvalidInput: an unknown parameter, or values that are not accepted.
        """
        chosen = self.settings(given)
        source, caption = self.source, self.caption.format(**chosen.texts)
        if chosen.changed:
            source = f"after {source}"
            own = ", ".join(f"{name} = {chosen.texts[name]}" for name in chosen.changed)
            caption += f" Parameters other than those of the source: {own}."
        title = self.title.format(**chosen.texts)
        panels = self.compute(workshop, **chosen.values)
        return FigureData(self.name, title, source, caption, panels)


#: The figures by name, in the order in which their modules were imported.
REGISTERED: Final[dict[str, Recipe]] = {}


def figure(
    name: str, title: str, source: str, caption: str, **parameters: Parameter
) -> Callable[[Compute], Compute]:
    """Register the decorated function as the computation of the figure ``name``."""

    def register(compute: Compute) -> Compute:
        assert name not in REGISTERED, name
        assert [*inspect.signature(compute).parameters][1:] == [*parameters], name
        REGISTERED[name] = Recipe(name, title, source, caption, parameters, compute)
        return compute

    return register
