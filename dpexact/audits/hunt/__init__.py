"""The hunt: a search for questions that an accountant answers wrongly, with certified verdicts."""

from dpexact.audits.hunt.search import Hunted, hunt

__all__ = ["Hunted", "hunt"]


def __dir__() -> list[str]:
    return __all__
