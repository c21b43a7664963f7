"""The Markdown report: its tables split as GitHub splits them, and foreign text without effect."""

import re
from dataclasses import replace
from html import unescape

from hostile_text import HOSTILE_TEXT
from hypothesis import example, given

from dpexact.audits import Claim, audit
from dpexact.audits.reports import write
from dpexact.audits.reports.markdown_report import to_markdown
from dpexact.visible import visible


def tables(text):
    """Every table as a list of rows of cells; a bar ends a cell unless a backslash escapes it."""
    found, rows = [], []
    for line in [*text.split("\n"), ""]:
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line)
            assert (cells[0], cells[-1]) == ("", "")
            rows.append([cell.strip() for cell in cells[1:-1]])
        elif rows:
            assert set(rows[1]) == {"---"}
            assert len({len(row) for row in rows}) == 1
            found.append([rows[0], *rows[2:]])
            rows = []
    return found


def codes(cell):
    return [unescape(code) for code in re.findall("<code>(.*?)</code>", cell)]


def test_claims_not_certified_right_are_listed_with_their_witness(report, hostile):
    counts, claims, asked, cases = tables(to_markdown(report))
    assert [row[0].split("<br>")[0] for row in claims[1:]] == [
        "**unsound**, gross",
        "**inaccurate**, gross",
        "**unsound**, gross",
        "undecided, invalid",
        "undecided",
    ]
    verdict, claim, truth, error, origin = claims[3]
    assert verdict == "**unsound**, gross<br>claim 2"
    assert codes(claim) == ["gaussian(1)", "epsilon <= 4.3 at delta = 0.00001"]
    assert codes(truth) == ["4.37717809568122..."]
    assert error.startswith("-1.763")
    assert codes(origin)[:4] == [visible(hostile)] * 3 + ["my claims/a,b.yaml, line 7"]
    assert codes(origin)[4] == "dpexact epsilon 'gaussian(1)' --delta 0.00001 --digits 30"
    assert counts[0][1:4] == ["gross", "visible", "rounding"]
    assert counts[1][1:] == ["2", "0", "0", "0", "0", "2", "2", "3"]
    assert [codes(row[0])[0] for row in asked[1:]] == ["good", "absent", "elsewhere"]
    assert [row[1] for row in cases[1:]] == ["failed", "not asked", "not asked"]


def test_a_report_without_claims():
    text = to_markdown(audit([]))
    assert tables(text) == []
    assert "0 claims" in text


def test_long_lists_can_be_cut(report):
    text = to_markdown(report, 1)
    assert [len(table) - 1 for table in tables(text)] == [3, 1, 3, 1]
    assert "4 more are not listed here." in text
    assert "2 more are not listed here." in text


def test_a_command_that_reproduces_is_not_cut(report):
    claim = replace(report.findings[1].claim, mechanism="gaussian(1)^2 * " * 40 + "pure_dp(1)")
    long = replace(report, findings=(replace(report.findings[1], claim=claim),))
    command = codes(tables(to_markdown(long))[1][1][4])[-1]
    assert str(claim.mechanism) in command


@given(HOSTILE_TEXT)
@example("a\\|b")
@example("`` ` ``")
@example("<!-- [x](y) ![z](http://example.org) @someone #1 $x$ :smile: _a_ *b* ~~c~~")
def test_foreign_text_is_text(report_saying, text):
    plain, said = (to_markdown(report_saying(word)) for word in ("plain", text))
    assert plain.count("\n") == said.count("\n")
    rows, expected = tables(said), tables(plain)
    assert [len(row) for row in rows] == [len(row) for row in expected]
    assert visible(text).strip() in [code.strip() for code in codes(rows[1][1][4])]
    allowed = re.sub(
        r"</?code>|<br>|&#\d+;|\*\*(unsound)\*\*|^#+ |^\||\|$| \|(?= )", "", said, flags=re.M
    )
    assert not re.search(r"[\\`*{}\[\]#!|~<>&$@]|(?<![^\W_])_|_(?![^\W_])|:(?! |$)", allowed, re.M)


def test_the_file_is_the_report(report, tmp_path):
    write(report, "markdown", tmp_path / "report.md")
    assert (tmp_path / "report.md").read_bytes().decode() == to_markdown(report)


def test_how_many_verdicts_are_as_expected():
    claim = Claim("pure_dp(1)", "epsilon", "2", "0", "upper", expect="sound")
    assert "0 undecided; 1 of 1 as expected.\n" in to_markdown(audit(claim))
