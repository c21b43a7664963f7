"""Claims in one line."""

import pytest
from click.testing import CliRunner

from dpexact.audit import Claim
from dpexact.audit.sentences import claim_of
from dpexact.cli import main
from dpexact.errors import InvalidInput


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        (
            "epsilon <= 2.4 of poisson(gaussian(1.1), 256/60000)^9 at delta 1e-5",
            Claim("poisson(gaussian(1.1), 256/60000)^9", "epsilon", "2.4", "1e-5", "upper"),
        ),
        (
            " delta>=1/7 of gaussian(1) * gaussian(2)  at epsilon = log(3) by me, at home ",
            Claim("gaussian(1) * gaussian(2)", "delta", "1/7", "log(3)", "lower", "me, at home"),
        ),
        ("epsilon ~ 2 of gdp(1) at delta=0.1", Claim("gdp(1)", "epsilon", 2, "0.1", "estimate")),
    ],
)
def test_what_is_claimed(sentence, claim):
    assert claim_of(sentence) == claim


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("", "write for example"),
        ("epsilon = 2 of gdp(1) at delta 0.1", "write for example"),
        ("epsilon <= 2 of gdp(1) at epsilon 0.1", "write for example"),
        ("epsilon <= 2 of gdp(1)", "write for example"),
        ("epsilon <= two of gdp(1) at delta 0.1", "two"),
        ("epsilon <= 2 of gpd(1) at delta 0.1", "did you mean 'gdp'"),
        ("epsilon <= 2 of gdp(1) at delta 3", "delta: 3"),
    ],
)
def test_what_is_no_claim_is_refused(sentence, named):
    with pytest.raises(InvalidInput, match=named):
        claim_of(sentence)
    result = CliRunner().invoke(main, ["audit", "--claim", sentence])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("value", "code"), [("4.4", 0), ("4.3", 1)])
def test_the_exit_code_is_that_of_the_verdict(value, code):
    sentence = f"epsilon <= {value} of gaussian(1) at delta 1e-5"
    result = CliRunner().invoke(main, ["audit", "--claim", sentence, "--jobs", "1"])
    assert result.exit_code == code
