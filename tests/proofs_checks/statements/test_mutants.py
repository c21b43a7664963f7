"""Every typed statement, made wrong once, makes the check of its claim fail."""

import pytest

from proofs_checks.claims import SOURCES, claims
from proofs_checks.evidence import Evidence
from proofs_checks.statements.mutants import mutants, negated
from proofs_checks.statements.reading import statement
from proofs_checks.statements.writing import sentence
from proofs_checks.verdicts import argued, contradicted, judge

TYPED = [
    pytest.param(entry, id=entry.id)
    for source in SOURCES
    for entry in claims(source).values()
    if entry.formal is not None
]
#: Facts that establish much, but not of these statements: nothing is to rest on them.
UNRELATED = (Evidence("identity", "a = b"), Evidence("computation", "1 < 2"))


def test_there_are_typed_statements_in_every_source():
    assert len(TYPED) >= 450
    for source in SOURCES:
        assert any(one.values[0].source == source for one in TYPED)


@pytest.mark.slow
@pytest.mark.parametrize("entry", TYPED)
def test_the_mutants_of_a_statement_are_declined(entry):
    if entry.fails_at is None:
        every, derivation = mutants(entry.typed), argued("whatever", *UNRELATED)
    else:
        every = iter([negated(entry.typed)])
        derivation = contradicted(entry.fails_at, "whatever", *UNRELATED)
    for wrong in every:
        assert wrong != entry.typed
        assert wrong.hash != entry.typed.hash
        found = judge(derivation, wrong, entry.fails_at, entry.restricts)
        assert found.verdict == "declined", sentence(wrong)


def test_each_part_of_a_statement_has_a_mutant():
    part = {"for_all": {"x": "real"}, "then": ["x = x*x"]}
    found = [*mutants(statement({**part, "also": [part]}))]
    assert [sentence(one).count("+ 1") for one in found] == [1, 1]
    assert len(found[1].goals()) == 2


@pytest.mark.parametrize(
    ("then", "wrong"),
    [
        ("x + 1 = 1 + x", "x + 1 = 2 + x"),
        ("x^2 >= 0", "x^2 < 0"),
        ("x != 1", "x = 1"),
        ("x = x*x", "x = x*x + 1"),
        ("x = D(y, y)*x", "x = D(y, y)*x + 1"),
    ],
)
def test_mutants(then, wrong):
    variables = {"x": "real", "y": "real"}
    (found,) = mutants(statement({"for_all": variables, "then": [then]}))
    assert found == statement({"for_all": variables, "then": [wrong]})


def test_equations_between_functions_have_mutants():
    variables = {"P": "law", "Q": "law", "E": "real >= 1"}
    plain = statement({"for_all": variables, "then": ["tradeoff(P, Q) = tradeoff(P, Q)"]})
    assert "inverse" in sentence(*mutants(plain))
    other = statement({"for_all": variables, "then": ["tradeoff(P, Q) = approximate(E, 0)"]})
    assert "approximate(E, 1)" in sentence(*mutants(other))
