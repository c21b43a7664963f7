"""Claims files: the three formats agree, numbers stay exact, errors name file, line and key."""

import csv
import io
import json
import math
import tracemalloc
from fractions import Fraction

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from dpexact.audits import Claim, read_claims, reading, trees
from dpexact.audits.claims import Place
from dpexact.audits.trees import MAX_DEPTH
from dpexact.errors import InvalidInput

CLAIM = {
    "mechanism": "approx_dp(0.1, 1e-6)^100",
    "claims": "epsilon",
    "epsilon": "4.80000000000000000001",
    "delta": "1e-400",
    "kind": "estimate",
    "source": 'somebody, "said": so # twice',
    "tolerance": "1e-9",
    "direction": "remove",
    "id": "a-1",
    "accountant": "some-package 1.2",
}
OTHER = {"mechanism": "gdp(1)", "claims": "delta", "epsilon": "1", "delta": "0.1", "kind": "lower"}


def as_yaml(claims):
    return yaml.safe_dump({"claims": claims}, allow_unicode=True)


def as_json(claims):
    return json.dumps({"claims": claims}, indent="\t")


def as_csv(claims):
    keys = list(dict.fromkeys(key for claim in claims for key in claim))
    out = io.StringIO()
    writer = csv.DictWriter(out, keys, restval="")
    writer.writeheader()
    writer.writerows(claims)
    return out.getvalue()


def as_jsonl(claims):
    return "".join(json.dumps(claim) + "\n\n" for claim in claims)


FORMATS = [
    ("yaml", as_yaml),
    ("yml", as_yaml),
    ("json", as_json),
    ("jsonl", as_jsonl),
    ("csv", as_csv),
]


def write(folder, text, name="claims.yaml"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def error_of(path):
    with pytest.raises(InvalidInput) as caught:
        read_claims(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path)).lstrip(":, ")


@pytest.mark.parametrize(("suffix", "dump"), FORMATS)
@pytest.mark.parametrize("named", [True, False], ids=["by suffix", "by content"])
def test_every_format_gives_the_same_exact_claims(tmp_path, suffix, dump, named):
    path = write(tmp_path, dump([CLAIM, OTHER]), f"claims.{suffix}" if named else "claims")
    first, second = read_claims(path)
    assert first == Claim(
        CLAIM["mechanism"],
        "epsilon",
        CLAIM["epsilon"],
        CLAIM["delta"],
        "estimate",
        CLAIM["source"],
        "a-1",
        "1e-9",
        "remove",
        "some-package 1.2",
    )
    assert first.claimed.fraction == Fraction("4.80000000000000000001")
    assert first.at.fraction == Fraction(1, 10**400)
    assert second == Claim("gdp(1)", "delta", "0.1", "1", "lower")


@given(st.decimals(min_value=0, max_value=100, allow_nan=False), st.sampled_from(["yaml", "json"]))
def test_unquoted_numbers_never_pass_through_a_float(tmp_path_factory, number, suffix):
    body = f'"mechanism": "gdp(1)", "claims": "epsilon", "epsilon": {number}, '
    text = '{"claims": [{' + body + '"delta": 1e-5, "kind": "upper"}]}'
    path = write(tmp_path_factory.mktemp("claims"), text, f"c.{suffix}")
    assert read_claims(path)[0].claimed.fraction == Fraction(number)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize(("suffix", "dump"), FORMATS)
def test_byte_order_mark_and_line_endings(tmp_path, ending, mark, suffix, dump):
    text = mark + dump([OTHER]).replace("\r\n", "\n").replace("\n", ending)
    assert read_claims(write(tmp_path, text, f"c.{suffix}"))[0].kind == "lower"


def test_infinity_may_be_claimed(tmp_path):
    for value in ("inf", ".inf", "Infinity"):
        text = as_csv([OTHER | {"claims": "epsilon", "epsilon": value}])
        assert read_claims(write(tmp_path, text, "c.csv"))[0].claimed == math.inf


FIVE = """claims:
  - mechanism: gdp(1)
    claims: delta
    epsilon: 1
    delta: 0.1
    kind: upper
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind", "knid", "line 6: unknown key 'knid'; did you mean 'kind'?"),
        ("kind:", "zzz:", "line 6: unknown key 'zzz'; known: mechanism, claims, "),
        ("upper", "upper\n    kind: upper", "line 7: key 'kind' is given twice (first on line 6)"),
        ("    delta: 0.1\n", "", "line 2: key 'delta' is missing"),
        ("    epsilon: 1\n", "", "line 2: key 'epsilon' is missing"),
        ("    claims: delta\n", "", "line 2: key 'claims' is missing"),
        ("claims: delta", "claims: rho", "line 3: claims: 'rho' is not accepted"),
        ("delta: 0.1", "delta:", "line 5: key 'delta' has no value"),
        ("delta: 0.1", "delta: ''", "line 5: delta: empty text"),
        ("delta: 0.1", "delta: nan", "line 5: delta: nan cannot be claimed"),
        ("delta: 0.1", "delta: -.inf", "line 5: delta: -inf cannot be claimed"),
        ("delta: 0.1", "delta: yes", "line 5: delta: "),
        ("delta: 0.1", "delta: [1, 2]", "line 5: key 'delta' holds a list"),
        ("epsilon: 1", "epsilon: inf", "line 4: epsilon: inf is not a finite"),
        ("epsilon: 1", "epsilon: 1e999999999", "line 4: epsilon: "),
        ("upper", "uper", "line 6: kind: 'uper' is not accepted; use upper, lower, estimate"),
        ("upper", "upper\n    tolerance: 0.1", "line 7: tolerance: 0.1 is not accepted with"),
        ("upper", "upper\n    direction: up", "line 7: direction: 'up' is not accepted"),
        ("gdp(1)", "gdp(1", "line 2: mechanism: column 6 of 'gdp(1': expected ')'"),
        ("gdp(1)", "gpd(1)", "line 2: mechanism: column 1 of 'gpd(1)': unknown mechanism"),
        ("mechanism: gdp(1)", "mechanism: [a", "line 3: not valid YAML: "),
        ("claims:\n", "claim:\n", "line 1: unknown key 'claim'; did you mean 'claims'?"),
        ("claims:\n", "claims: []\nclaims:\n", "line 1: key 'claims' is given twice"),
        ("  - mechanism: gdp(1)\n", "  -\n", "line 3: "),
        (
            "claims:\n  - mechanism: gdp(1)\n",
            "claims:\n    mechanism: gdp(1)\n",
            "line 1: 'claims' m",
        ),
        ("kind: upper", "kind: &k upper\n    id: *k", "line 7: YAML alias *k is not accepted"),
        ("kind: upper", "kind: upper\n---\na: b", "line 7: a second YAML document"),
        ("kind: upper", "kind: upper\n    ? [a]\n    : b", "line 7: a key must be text"),
        ("kind: upper", "kind: upper\n    ~: b", "line 7: a key is empty"),
    ],
)
@pytest.mark.parametrize("loader", [trees._LOADER, yaml.SafeLoader], ids=["default", "pure"])
def test_yaml_mistakes(tmp_path, monkeypatch, loader, old, new, message):
    monkeypatch.setattr(trees, "_LOADER", loader)
    assert FIVE.count(old) >= 1
    assert error_of(write(tmp_path, FIVE.replace(old, new, 1))).startswith(message)


def test_an_unquoted_comma_is_explained(tmp_path):
    text = "claims:\n- {mechanism: approx_dp(1, 0.2), claims: delta}\n"
    assert "needs quotes" in error_of(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; expected a list of claims under the key 'claims'"),
        ("# only a comment\n", "the file is empty"),
        ("claims: []\n", "line 1: the list of claims is empty"),
        ("claims:\n", "line 1: 'claims' must be a list, found nothing"),
        ("{}", "line 1: expected a list of claims under the key 'claims', found none"),
        (
            "just text",
            "line 1: expected a list of claims under the key 'claims', found 'just text'",
        ),
        (
            "- mechanism: gdp(1)\n",
            "line 1: expected a list of claims under the key 'claims', found a",
        ),
        ("claims: [text]", "line 1: a claim must be a mapping, found 'text'"),
        (b"\x89PNG\r\n\x1a\n\x00\x01", "line 1: not UTF-8 text"),
        (b"claims:\n- \x00\x01", "line 2: control character '\\x00': not a text file"),
        ("claims:\n- é".encode("latin-1"), "line 2: not UTF-8 text"),
        ("claims:\n- {a: ]\n", "line 2: not valid YAML"),
        ("claims: !!python/object:os.system {}", "line 1: 'claims' must be a list"),
        ("[" * 100_000, f"line 1: nested more than {MAX_DEPTH} deep"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "line 2: YAML alias *a is not accepted"),
        ("claims: \ufffe", "not valid YAML: "),
    ],
)
@pytest.mark.parametrize("loader", [trees._LOADER, yaml.SafeLoader], ids=["default", "pure"])
def test_yaml_files_that_are_none(tmp_path, monkeypatch, loader, text, message):
    monkeypatch.setattr(trees, "_LOADER", loader)
    assert error_of(write(tmp_path, text)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"mechanism": "gdp(1)"}]', "line 1: expected a list of claims under the key 'claims'"),
        ('{"claims":\n {}}', "line 1: 'claims' must be a list, found a mapping"),
        ('{"claims": [\n{"mechanism": 1,\n"knid": 2}]}', "line 3: unknown key 'knid'"),
        (
            '{"claims": [\n{"id": 1,\n"id": 2}]}',
            "line 3: key 'id' is given twice (first on line 2)",
        ),
        ('{"claims": [\n{"mechanism": 1,}]}', "line 2: not valid JSON: "),
        ("", "line 1: not valid JSON: "),
        ("[" * 100_000, f"line 1: nested more than {MAX_DEPTH} deep"),
        ('{"claims": [\n{"id": "a\\qb"}]}', "line 2: not valid JSON: Invalid \\escape"),
        ('{"claims": [\n1\n2]}', "line 3: not valid JSON: expected ',' or ']' at column 1"),
        ('{"claims"\n 1}', "line 2: not valid JSON: expected ':' at column 2"),
        ('{"claims": []}\n,', "line 2: not valid JSON: expected nothing more at column 1"),
        ("{claims: []}", "line 1: not valid JSON: expected a key in double quotes at column 2"),
        ('{"claims": [\n"a\n"]}', "line 2: not valid JSON: Invalid control character at"),
        ("[" * 50 + "]" * 50, f"line 1: nested more than {MAX_DEPTH} deep"),
        (as_json([OTHER]).replace('"0.1"', "NaN"), "line 7: delta: nan cannot be claimed"),
        (as_json([OTHER]).replace('"0.1"', "null"), "line 7: key 'delta' has no value"),
        (as_json([OTHER]).replace('"0.1"', "true"), "line 7: delta: "),
    ],
)
def test_json_mistakes(tmp_path, text, message):
    assert error_of(write(tmp_path, text, "c.json")).startswith(message)


JSON_PARTS = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    " ",
    "\n",
    '"a"',
    '"',
    "\\",
    "0",
    "-1.5e3",
    "null",
    "NaN",
    "x",
]


@given(st.lists(st.sampled_from(JSON_PARTS), max_size=9).map("".join))
@example('{"a":[1,{}]}')
@example('[{"a":null,"a":[]},0]')
@example("-Infinity")
def test_json_is_what_the_standard_library_takes_for_it(text):
    try:
        json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(InvalidInput, match=r"line \d+: not valid JSON: .* at column \d+"):
            trees.json_tree(text)
    else:
        assert trees.json_tree(text) is not None


HEADER = "mechanism,claims,epsilon,delta,kind"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        (f"{HEADER}\n", "line 1: the list of claims is empty"),
        (f"{HEADER},knid\n\ngdp(1),delta,1,1,upper,x\n", "line 1: unknown key 'knid'"),
        (f"{HEADER},kind\ngdp(1),delta,1,1,upper,x\n", "line 1: heading 'kind' is given twice"),
        (f"{HEADER},id,id\ngdp(1),delta,1,1,upper,x\n", "line 1: heading 'id' is given twice"),
        (HEADER.replace(",", ";"), "line 1: cells are separated by semicolons"),
        (f"{HEADER}\n\ngdp(1),delta,1,,upper\n", "line 3: key 'delta' has no value"),
        (f"{HEADER}\ngdp(1),delta,1\n", "line 2: key 'delta' has no value"),
        (f"{HEADER}\nx(1, 2),delta,1,1,upper\n", "line 2: 6 cells under 5 headings"),
        (f'{HEADER}\n"gdp(1)"x,delta,1,1,upper\n', "line 2: not valid CSV"),
        (f'{HEADER}\n"gdp(1),delta', "line 2: not valid CSV"),
        (f"{HEADER}\ngdp(1),delta,1,1,uper\n", "line 2: kind: 'uper'"),
        (f"{HEADER},\ngdp(1),delta,1,1,upper,x\n", "line 1: a key is empty"),
    ],
)
def test_csv_mistakes(tmp_path, text, message):
    assert error_of(write(tmp_path, text, "c.csv")).startswith(message)


def test_csv_may_end_in_empty_columns_and_span_lines(tmp_path):
    text = f'{HEADER},source,\ngdp(1),delta,1,0.1,upper,"two\nlines",\n\ngdp(2),delta,1,x,upper,,\n'
    path = write(tmp_path, text, "c.csv")
    assert error_of(path).startswith("line 5: delta: ")
    path.write_text(text.replace(",x,", ",0.5,"))
    assert [claim.source for claim in read_claims(path)] == ["two\nlines", ""]


def test_paths_that_cannot_be_read(tmp_path):
    assert error_of(tmp_path) == "is a directory, not a claims file"
    assert "No such file" in error_of(tmp_path / "absent.yaml")
    assert error_of(tmp_path / ("x" * 300)) == "cannot read the file: File name too long"
    with pytest.raises(InvalidInput, match="cannot read the file"):
        read_claims("a\0b")


def test_a_huge_file_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path, as_yaml([OTHER]))
    monkeypatch.setattr(reading, "MAX_BYTES", 20)
    assert "larger than 20 bytes" in error_of(path)


def test_a_hostile_name_stays_on_one_line(tmp_path):
    path = tmp_path / "two\nlines\x1b[31m.yaml"
    with pytest.raises(InvalidInput) as caught:
        read_claims(path)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "dump", "lines"),
    [("yaml", as_yaml, [2, 12]), ("json", as_json, [3, 15]), ("csv", as_csv, [2, 3])],
)
def test_every_claim_knows_where_it_stands(tmp_path, suffix, dump, lines):
    path = tmp_path / f"claims.{suffix}"
    path.write_text(dump([CLAIM, OTHER]))
    claims = read_claims(path)
    assert [claim.place for claim in claims] == [Place(str(path), line) for line in lines]
    assert claims[1] == Claim("gdp(1)", "delta", "0.1", "1", "lower")


@pytest.mark.parametrize("value", ["+-inf", "--inf", "..inf", "+.-nan", "in.f"])
def test_what_only_looks_like_infinity_is_refused(tmp_path, value):
    claim = OTHER | {"claims": "epsilon", "epsilon": value}
    assert "line 2: epsilon: " in error_of(write(tmp_path, as_csv([claim]), "c.csv"))


def test_a_long_word_does_not_make_a_long_message(tmp_path):
    for key in ("direction", "kind", "claims", "expect", "epsilon", "mechanism"):
        claim = OTHER | {key: "x" * 100_000}
        assert len(error_of(write(tmp_path, as_json([claim]), "c.json"))) < 700, key
    alias = "claims:\n- *" + "x" * 100_000
    assert len(error_of(write(tmp_path, alias))) < 200


def test_the_number_of_headings_and_values_is_bounded(tmp_path, monkeypatch):
    wide = ",".join(f"c{i}" for i in range(trees.MAX_COLUMNS + 1))
    assert error_of(write(tmp_path, wide, "c.csv")) == "line 1: more than 64 headings"
    monkeypatch.setattr(trees, "MAX_NODES", 40)
    for kind, form in FORMATS:
        assert (
            len(read_claims(write(tmp_path, form([dict(OTHER) for _ in range(2)]), f"c.{kind}")))
            == 2
        )
        assert "more than 40 values; split the file" in error_of(
            write(tmp_path, form([dict(OTHER) for _ in range(9)]), f"c.{kind}")
        )


def test_a_long_text_in_json_takes_no_more_memory_than_its_length(tmp_path):
    claim = json.dumps({"claims": [{"k" * 2_000_000: 1}]})
    path = write(tmp_path, claim, "c.json")
    most = reading.MAX_BYTES + 10 * len(claim)  # reading sets that much aside
    tracemalloc.start()
    try:
        error_of(path)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"mechanism": 1', "line 3: not valid JSON: expected ',' or '}' at column 16"),
        ("[1]", "line 3: a claim must be a mapping, found a list"),
        ("{} {}", "line 3: not valid JSON: expected nothing more at column 4"),
        ('{"mechanism": "\\x"}', "line 3: not valid JSON: Invalid"),
        ("{}", "line 3: key 'mechanism' is missing"),
    ],
)
def test_errors_in_json_lines_name_the_line(tmp_path, line, said):
    path = write(tmp_path, f"{json.dumps(OTHER)}\n\n{line}\n", "claims.jsonl")
    with pytest.raises(InvalidInput) as caught:
        read_claims(path)
    assert f"claims.jsonl, {said}" in str(caught.value)


@pytest.mark.slow
def test_a_large_file_is_read_claim_by_claim(tmp_path, monkeypatch):
    """What is kept is the claims, and the text; no tree of the whole."""
    monkeypatch.setattr(reading, "MAX_BYTES", 1_000_000)  # there is room for so much
    peaks = {}
    for name, form in (("csv", as_csv), ("jsonl", as_jsonl)):
        path = write(tmp_path, form([OTHER] * 3000), f"claims.{name}")
        read_claims(path)
        tracemalloc.start()
        claims = read_claims(path)
        kept, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(claims) == 3000
        peaks[name] = peak - kept - 1_000_000 - 3 * path.stat().st_size
    assert max(peaks.values()) < 1_000_000
