"""Accountants under audit: other libraries, each behind one adapter module.

An adapter imports nothing of dpexact, and the audited package only inside its functions, so that it
can be listed where the package is absent and run by another interpreter.
"""

from dpexact.audits.accountants.asking import Question as Question
from dpexact.audits.accountants.asking import Skipped as Skipped
from dpexact.audits.accountants.asking import call_of as call_of
from dpexact.audits.accountants.asking import questions_for as questions_for
from dpexact.audits.accountants.interviews import AccountantInfo as AccountantInfo
from dpexact.audits.accountants.interviews import Interview as Interview
from dpexact.audits.accountants.interviews import Limits as Limits
from dpexact.audits.accountants.interviews import NoAnswer as NoAnswer
from dpexact.audits.accountants.interviews import available as available
from dpexact.audits.accountants.interviews import python_for as python_for
from dpexact.audits.accountants.registry import Accountant as Accountant
from dpexact.audits.accountants.registry import Registered as Registered
from dpexact.audits.accountants.registry import find as find
from dpexact.audits.accountants.registry import names as names

# what stands here
__all__ = [x for x, of in vars().items() if getattr(of, "__module__", "").startswith(__name__)]
__dir__ = __all__.copy
