"""Claims in one line."""

import pytest
from command_line import invoke

from dpexact.audits import Claim
from dpexact.audits.sentences import claim_of, claims_of
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
        ("epsilon <= nan of gdp(1) at delta 0.1", "epsilon: nan cannot be claimed"),
        ("epsilon >= -inf of gdp(1) at delta 0.1", "epsilon: -inf cannot be claimed"),
        ("epsilon <= 2 of gpd(1) at delta 0.1", "did you mean 'gdp'"),
        ("epsilon <= 2 of gdp(1) at delta 3", "delta: 3"),
    ],
)
def test_what_is_no_claim_is_refused(sentence, named):
    with pytest.raises(InvalidInput, match=named):
        claim_of(sentence)
    result = invoke("audit", "--claim", sentence)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


#: What of the statement that TensorFlow Privacy prints is read; the rest of it is words.
PRINTED = """
DP-SGD performed over 100 examples with 10 examples per iteration, noise
multiplier 2.5 for 3 epochs {how} microbatching, and no bound.

Example-level DP with add-or-remove-one adjacency at delta = 1e-05 computed with
RDP accounting:
    Epsilon with each example occurring once per epoch:        {ordered}
    Epsilon assuming Poisson sampling (*):                      {poisson}
"""


@pytest.mark.parametrize(("how", "sensitivity"), [("without", 1), ("with", 2)])
def test_a_printed_statement_makes_two_claims(how, sensitivity):
    text = PRINTED.format(how=how, ordered="3.141", poisson="inf")
    ordered, poisson = claims_of(text)
    step = f"gaussian(2.5, {sensitivity})"
    assert ordered == Claim(
        f"{step}^3",
        "epsilon",
        "3.141",
        "1e-5",
        "upper",
        "TensorFlow Privacy, RDP, each example once an epoch",
    )
    assert poisson == Claim(
        f"poisson({step}, 1/10)^30",
        "epsilon",
        "inf",
        "1e-5",
        "upper",
        "TensorFlow Privacy, RDP, assuming Poisson sampling",
    )


@pytest.mark.slow
def test_what_is_printed_is_judged():
    sound = PRINTED.format(how="without", ordered="4", poisson="2")
    wrong = PRINTED.format(how="without", ordered="2.4", poisson="2")
    for text, code in ((sound, 0), (wrong, 1)):
        result = invoke("audit", "--claim", text, "--jobs", "1")
        assert result.exit_code == code, result.output
        assert f"2 claims: {code} certified wrong, {2 - code} certified right" in result.output


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("100 examples", "5 examples", "batch: 10"),
        ("100 examples", "None examples", "dataset: "),
        ("1e-05", "2", "delta: 2"),
        ("3.141", "what", "epsilon: "),
        ("Example-level", "User-level", "write for example"),
    ],
)
def test_what_was_printed_wrong_is_refused(old, new, named):
    text = PRINTED.format(how="without", ordered="3.141", poisson="1").replace(old, new)
    with pytest.raises(InvalidInput, match=named):
        claims_of(text)


@pytest.mark.slow
@pytest.mark.parametrize(("value", "code"), [("4.4", 0), ("4.3", 1)])
def test_the_exit_code_is_that_of_the_verdict(value, code):
    sentence = f"epsilon <= {value} of gaussian(1) at delta 1e-5"
    result = invoke("audit", "--claim", sentence, "--jobs", "1")
    assert result.exit_code == code
