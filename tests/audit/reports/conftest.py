"""One report with every verdict and hostile text, shared by the tests of the reports."""

import pytest

from dpexact.audit import Claim, audit

HOSTILE = "<script>alert('x')</script> & \"q\" \x1b[31m[bold red]b[/] \u202e \ud800 ε\nnext"


@pytest.fixture(scope="session")
def hostile():
    return HOSTILE


@pytest.fixture(scope="session")
def report():
    def claim(claimed, kind, mechanism="gaussian(1)", at="1e-5", **options):
        return Claim(mechanism, "epsilon", claimed, at, kind, **options)

    return audit(
        [
            claim("4.4", "upper", source="a sound one", accountant="good 1.0"),
            claim("4.3", "upper", source=HOSTILE, id=HOSTILE, accountant=HOSTILE),
            claim("4.37", "estimate"),
            claim(5.0 / 3.0, "estimate", tolerance="1e-9", direction="remove"),
            claim("2", "upper", "poisson(zcdp(1), 1/2)"),
            claim("inf", "estimate", at="0"),
            claim("5", "upper", at="0"),
            claim("inf", "upper"),
            claim("nan", "lower"),
            claim("1e-300", "lower"),
            claim("log(3)+1e-40", "upper", "pure_dp(log(3))", at="0"),
        ],
        command="dpexact audit 'claims & more.yaml'",
    )
