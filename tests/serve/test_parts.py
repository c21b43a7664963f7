"""Parts: what is told, where errors point, and that foreign text stays text."""

import json
import re

import pytest
from hostile_text import HOSTILE_TEXT
from hypothesis import example, given

from dpexact.certificate_checker import read
from dpexact.certificate_checker_mpfr.checking import check
from dpexact.serve.forms import CHOICES, Form
from dpexact.serve.parts import page, part, problem

ATTACK = "<script>attack()</script><img src=x onerror=attack()>"


def form(**fields):
    return Form.of(fields)


def expression(expr, **fields):
    return form(mode="expression", expr=expr, **{"delta": "1e-5", **fields})


def words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_an_answer():
    found = part("answer", form())
    told = words(found["html"])
    assert found["spoken"] == "epsilon at most 2.378018"
    assert found["short"] == "epsilon ≤ 2.378018"
    assert "ε ≤ 2.378018 at δ = 1e-5, the worse of adding and of removing one record" in told
    assert "between 2.378017120644" in told
    assert "poisson(gaussian(1.1), 1/235)^14100" in told
    assert "differentially private if one record is added or removed." in told
    assert "Assumed: batches are sampled so" in told
    assert "--framework opacus --dataset 60000 --batch 256 --epochs 60 --sigma 1.1" in told


def test_an_answer_that_is_exact():
    told = words(part("answer", expression("pure_dp(1/2)^2", delta="0"))["html"])
    assert "ε = 1 at δ = 0" in told
    assert "1, exactly" in told


def test_an_epsilon_that_is_not_finite():
    question = expression("approx_dp(1, 1/10)")
    found = part("answer", question)
    assert "ε = ∞" in words(found["html"])
    assert "No finite epsilon" in found["html"]
    assert part("profile", question) == {"html": ""}


def test_an_upper_bound_says_so():
    found = part("answer", expression("zcdp(1)"))
    assert "≤" in found["short"]
    told = words(found["html"])
    assert "a proved upper bound; the truth may be smaller" in told
    assert "Bound between" in told
    assert "The truth is certainly at most the number above" in told
    assert "lies between them" not in told


@pytest.mark.slow
def test_an_answer_of_too_few_digits_says_so():
    found = part("answer", expression("poisson(discrete_gaussian(2), 1/10)^20", delta="1e-6"))
    assert "15 digits were not reached" in found["html"]
    low, high = re.findall(r"(?:between|and) ([0-9]+\.[0-9.e-]+)", words(found["html"]))
    assert float(low) <= float(high)


def test_noise_for_a_target():
    question = form(
        counted="rate", rate="1/10", steps="20", noise="target-epsilon", delta="1e-5",
        **{"target-epsilon": "2"},
    )  # fmt: skip
    assert "σ = 1.36" in words(part("answer", question)["html"])
    impossible = form(
        counted="rate", rate="1", steps="20", noise="target-epsilon", delta="1",
        **{"target-epsilon": "2"},
    )  # fmt: skip
    assert part("answer", impossible)["error"].endswith("is met by any noise")


def test_curves():
    curve = part("curve", form())["html"]
    assert curve.count("<circle") == 24
    assert "epsilon at most 2.379 at step 14,100" in curve
    profile = part("profile", form())["html"]
    assert profile.count("<circle") == 25
    assert 'class="mark"' in profile
    assert part("curve", expression("gaussian(1)")) == {"html": ""}
    question = expression("gaussian(1)", question="delta", epsilon="1")
    assert part("curve", question) == {"html": ""}
    assert part("profile", question)["html"].count("<circle") == 25


def test_a_curve_that_ends_at_infinity_says_where():
    found = part("curve", expression("approx_dp(1/10, 1/1000)^30", delta="1/100"))
    assert re.search(r"From 1\d steps on, epsilon is not finite", found["html"])


def test_certificates_verify():
    found = part("certificate", expression("approx_dp(1/10, 1/1000)^30", delta="0.1"))
    assert check(read(found["document"].encode()))
    assert (
        "no certificate" in part("certificate", expression("adaptive(bounded_range(1))"))["error"]
    )


@pytest.mark.parametrize(
    ("fields", "field", "shown"),
    [
        ({"expr": "gausian(1)"}, "expr", "gausian(1)\n^"),
        ({"expr": "gaussian(1) * !"}, "expr", "gaussian(1) * !\n              ^"),
        ({"expr": "gaussian(1)", "delta": "1e-5x"}, "delta", "1e-5x\n    ^"),
        ({"expr": "gaussian(1)*" * 9 + "!"}, "expr", "…aussian(1)*gaussian(1)*!\n"),
        ({"expr": "gaussian(1\x00)"}, "expr", "gaussian(1·)\n          ^"),
    ],
)  # fmt: skip
def test_errors_point_at_a_column(fields, field, shown):
    found = part("answer", expression(**fields))
    assert found["field"] == field
    drawn = re.search(r"<pre[^>]*>(.*)</pre>", found["html"], re.DOTALL)[1]
    if shown.startswith("…"):
        text, caret = drawn.split("\n")
        assert (text[0], text[-1], text[caret.index("^")]) == ("…", "!", "!")
    else:
        assert drawn == shown


def test_errors_name_a_field():
    assert part("answer", expression("gaussian(1)", delta="2"))["field"] == "delta"
    assert (
        part("answer", form(counted="rate", rate="1/2", sigma="1", delta="0"))["field"] == "steps"
    )
    # one that does not count is not pointed at
    assert problem("rate: of no use", form())["field"] == ""
    assert problem("no field: of no use", form())["field"] == ""


@given(HOSTILE_TEXT)
@example(ATTACK)
@example("gaussian('><img>")
def test_foreign_text_is_inert(text):
    for fields in ({"expr": text}, {"expr": "gaussian(1)", "delta": f"?{text}"}):
        found = part("answer", expression(**fields))
        assert found["error"]
        assert not re.search(r"<(?!/?(div|pre|p)\b)", found["html"])
        assert all(c.isprintable() or c == "\n" for c in found["html"])
        json.dumps(found).encode()
    for shown in (page(expression(text)), page(form(), text)):
        assert "<img" not in shown
        assert shown.count("<script") == 1
        shown.encode()


def test_every_way_of_making_batches_is_offered_by_its_own_words():
    offered = dict(re.findall(r'<option value="([a-z]+)"[^>]*>([^<]*)<', page(form())))
    for way, word in {
        "poisson": "by chance",
        "ordered": "any order",
        "allocation": "random batch",
        "shuffled": "lower bound",
    }.items():
        assert word in offered[way]
    assert set(CHOICES["sampling"]) <= set(offered)


def test_the_page_shows_the_fields_that_count():
    shown = page(expression("gaussian(7)"))
    assert "gaussian(7)</textarea>" in shown
    assert re.search(r'data-when="mode=run counted=dataset" hidden disabled', shown)
    assert not re.search(r'data-when="mode=expression" hidden', shown)


@pytest.mark.parametrize(
    "expr",
    [
        "gaussian(1e999999999)",
        "gaussian(10^10^10)",
        "gaussian(1)^(10^30)",
        "(" * 5000 + "gaussian(1)" + ")" * 5000,
        "gaussian(1)*" * 900,
        "\x00",
        "\ud800",
        "ĝaussian(１)",
        "",
    ],
)
def test_extreme_expressions_are_one_clear_line(expr):
    found = part("answer", expression(expr))
    assert "\n" not in found["error"]
    assert len(found["error"]) < 400
