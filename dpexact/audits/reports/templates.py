"""The templates of a page, which escape and show as inert whatever is put into them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpexact.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(package: str, folder: str) -> Environment:
    """Those of a ``folder`` of ``package``."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only where a page is written
    from markupsafe import Markup

    return Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
