"""The language: reading, sorts, sentences, LaTeX, hashes, and sympy both ways."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from proofs_checks.claims import SOURCES, claims
from proofs_checks.statements import reading
from proofs_checks.statements.algebra import expression, symbols, term_of
from proofs_checks.statements.statement import Statement, Variable, from_json
from proofs_checks.statements.writing import latex, sentence, text

DATA_PROCESSING = {
    "for_all": {"P": "law", "Q": "law", "K": "kernel", "E": "real >= 1"},
    "then": ["hockey_stick(push(K, P), push(K, Q), E) <= hockey_stick(P, Q, E)"],
}


def test_the_sentence_is_written_from_the_tree():
    found = reading.statement(DATA_PROCESSING)
    assert sentence(found) == (
        "for all P a finite law, Q a finite law, K a kernel, E >= 1: "
        "hockey_stick(push(K, P), push(K, Q), E) <= hockey_stick(P, Q, E)"
    )
    assert r"\\operatorname{hs}(" in latex(found).replace("\\", "\\\\")
    positive = reading.statement(
        {"for_all": {"x": "real > 0", "k": "natural >= 1"}, "then": ["x < k"]}
    )
    assert latex(positive).startswith(r"\text{for all } x > 0, k \in \mathbb{N}, k \ge 1")


def test_every_statement_of_the_catalogue_is_well_sorted_and_survives_json():
    for source in SOURCES:
        for entry in claims(source).values():
            typed = entry.typed
            if typed is None:
                continue
            assert from_json(typed.to_json()) == typed
            assert sentence(typed)
            assert latex(typed)
            for one in (*typed.hypotheses, *typed.conclusion):
                for side in (one.left, one.right):
                    assert reading.term(text(side)) == side or text(
                        reading.term(text(side))
                    ) == text(side)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"then": ["x = 1"]}, "unknown name 'x'"),
        ({"then": []}, "concludes something"),
        ({"for_all": {"x": "complex"}, "then": ["x = 1"]}, "domain of x"),
        ({"for_all": {"x": "real"}, "then": ["x"]}, "not a relation"),
        ({"for_all": {"x": "real"}, "then": ["x = __import__(1)"]}, "not a term"),
        ({"for_all": {"P": "law"}, "then": ["exp(P) = 1"]}, "exp takes a real, not a law"),
        ({"for_all": {"P": "law"}, "then": ["P = 1"]}, "not compared"),
        ({"for_all": {"x": "real"}, "then": ["push(x) = 1"]}, "push takes 2 operands"),
        ({"for_all": {"x": "real"}, "then": ["exp(x, x) = 1"]}, "unknown operator 'exp'"),
        ({"for_all": {"x": "real"}, "then": ["D(x) = 1"]}, "D binds no name"),
        ({"for_all": {"e": "real"}, "then": ["e > 2"]}, "e names a constant"),
        ({"then": ["sum(pi, pi, 0, 1) = 1"]}, "sum binds pi, a constant"),
    ],
)
def test_what_is_not_a_statement_is_refused(entry, message):
    with pytest.raises(TypeError, match=message.replace("(", r"\\(")):
        reading.statement(entry)


def test_any_change_changes_the_hash():
    first = reading.statement({"for_all": {"x": "real > 0"}, "then": ["x + 1 > 1"]})
    others = [
        {"for_all": {"x": "real >= 0"}, "then": ["x + 1 > 1"]},
        {"for_all": {"x": "real > 0"}, "then": ["x + 1 >= 1"]},
        {"for_all": {"x": "real > 0"}, "then": ["x + 2 > 1"]},
        {"for_all": {"x": "real > 0"}, "where": ["x > 1"], "then": ["x + 1 > 1"]},
    ]
    hashes = {first.hash, *(reading.statement(one).hash for one in others)}
    assert len(hashes) == 5


def test_goals_are_the_relations():
    found = reading.statement({"for_all": {"x": "real"}, "then": ["0 <= x^2 + 1 < x^2 + 2"]})
    assert [len(goal.conclusion) for goal in found.goals()] == [1, 1]
    assert isinstance(found.goals()[0], Statement)


@given(st.fractions(), st.fractions(), st.fractions(), st.booleans(), st.booleans())
def test_covering_is_containment(value, low, width, low_open, high_open):
    inner = Variable("x", "real", low, low + abs(width), low_open, high_open)
    outer = Variable("x", "real", low - 1, low + abs(width))
    assert outer.covers(inner)
    assert not inner.covers(outer)
    assert not inner.holds(value) or outer.holds(value)


@pytest.mark.parametrize(
    "written",
    ["x^2 - y/3", "exp(-x)*sqrt(y)", "Phi(x)", "D(x*y, x)", "at(x*y, x, 2)", "sum(x^i, i, 0, 3)"],
)
def test_terms_are_sympy_expressions(written):
    variables = (Variable("x", "real", Fraction(0)), Variable("y", "real", Fraction(0)))
    names = symbols(variables)
    there = expression(reading.term(written), names)
    back = expression(term_of(there), names)
    assert sympy.simplify((there - back).doit()) == 0
