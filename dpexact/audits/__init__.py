"""Audits: claims of other software against certified enclosures.

Inside, each module imports only from those before it::

    claims < trees, records < reading < verdicts < runner < reports
"""

from dpexact.audits.claims import Claim, Contract
from dpexact.audits.reading import read_claims
from dpexact.audits.runner import Report, audit
from dpexact.audits.verdicts import Finding, judge

__all__ = ["Claim", "Contract", "Finding", "Report", "audit", "judge", "read_claims"]
__dir__ = __all__.copy
