"""Audits: claims of other software against certified enclosures.

Inside, each module imports only from those before it::

    claims < trees, records < reading < verdicts < runner < reports
"""

from dpexact.audit.claims import Claim, Contract
from dpexact.audit.reading import read_claims
from dpexact.audit.runner import Report, audit
from dpexact.audit.verdicts import Finding, judge

__all__ = ["Claim", "Contract", "Finding", "Report", "audit", "judge", "read_claims"]


def __dir__() -> list[str]:
    return __all__
