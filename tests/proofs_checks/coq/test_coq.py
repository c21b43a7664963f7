"""Claims as Coq files: what is written, what is recorded, and what coqc says."""

import re
from fractions import Fraction

import pytest
from command_line import invoke

import dpexact
from dpexact.certificates import NoCertificate
from dpexact.certificates.coq.theorems import above, below, theorem
from dpexact.conversion import real
from proofs_checks.claims import SOURCES, claim
from proofs_checks.coq import accepted, coq_of, covered, formal, scope_of, stated
from proofs_checks.coq.compiling import (
    Accepted,
    Rejected,
    compiled,
    coqc,
    library_compiled,
    without_comments,
)
from proofs_checks.coq.export import libraries, theorem_of, write
from proofs_checks.coq.goals import NoGoal, goal_of
from proofs_checks.statements.mutants import mutants
from proofs_checks.statements.reading import statement

needs_coqc = pytest.mark.skipif(coqc() is None, reason="coqc with coq-interval is not installed")
#: One claim a source; nightly runs all (`poe coq`).
SAMPLE = ("kov.thm3.4.branch3", "gdp.eq4", "steinke.lem36", "slides.epsdelta_equiv")


@pytest.fixture(scope="module")
def compiled_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coq")
    library_compiled(folder)
    return folder


def test_every_covered_claim_is_recorded_as_it_stands():
    missing = [identity for identity in covered() if not accepted(identity)]
    assert not missing, "python -m proofs_checks.coq.record " + " ".join(missing)
    assert {identity.partition(".")[0] for identity in covered()} <= {*SOURCES}


def test_enough_claims_are_formal():
    assert len([identity for identity in covered() if formal(identity)]) >= 200


def test_no_source_admits_anything():
    word = re.compile(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Hypothesis\s*:)")
    for text in [*libraries().values(), *map(coq_of, covered())]:
        assert not word.search(without_comments(text))


@pytest.mark.parametrize("identity", covered())
def test_the_theorem_of_each_claim_is_in_its_file(identity):
    text = coq_of(identity)
    name = theorem_of(identity) + ("_stated" if stated(identity) else "")
    assert re.search(rf"^(Theorem|Definition) {name}\b", text, re.MULTILINE)
    assert text.endswith(f"Print Assumptions {name}.\n")
    assert scope_of(identity)


def test_a_typed_goal_follows_its_statement():
    written = {"for_all": {"x": "real >= 0", "n": "natural"}, "where": ["x != 2"]}
    goal = goal_of(statement({**written, "then": ["x^n >= 0", "max(x, 1) > 0"]}))
    assert goal == (
        "forall (x_ : R) (n_ : nat), 0 <= x_ -> 0 <= (INR n_) -> x_ <> 2 -> "
        "((x_ ^ n_) >= 0) /\\ ((Rmax x_ 1) > 0)"
    )
    assert goal != goal_of(statement({**written, "then": ["x^n > 0", "max(x, 1) > 0"]}))


LAWS = {"P": "law", "Q": "law", "R": "law"}


@pytest.mark.parametrize(
    ("variables", "then", "piece"),
    [
        (LAWS, "total_variation(P, Q) >= 0", "(l1 : list A1) (A3 : Type) (l3 : list A3) (P_ : A1"),
        (LAWS, "hockey_stick(product(P, R), product(Q, R), 2) >= 0", "HS (list_prod l1 l3) 2 ("),
        (LAWS, "tradeoff(P, Q) >= approximate(2, 0)", "(forall a, 0 <= a <= 1 -> (tradeoff l1 P_"),
        (LAWS, "inverse(tradeoff(P, Q)) = tradeoff(Q, P)", "(inverse (tradeoff l1 P_ Q_)) a = "),
        (LAWS, "probability(P, likely(P, Q, 2)) >= 0", "(probability l1 P_ (likely 2 P_ Q_))"),
        ({"P": "law > 0", "Q": "law > 0"}, "mean(z, z, P, Q) >= 0", "(fun z_ : R => z_)"),
        ({"P": "law > 0", "Q": "law > 0"}, "moment(P, Q, 2) >= 1", "positive_law l1 P_ -> "),
        (
            {"P": "law", "K": "kernel", "L": "kernel"},
            "worst_hockey_stick(K, L, 2) >= 0",
            "largest l",
        ),
        (
            {"X": "mechanism", "Y": "mechanism", "k": "natural"},
            "hockey_stick(run(X, k), run(Y, k), 2) >= 0",
            "HS (words l1 k_) 2 (run X_) (run Y_)",
        ),
        ({"x": "sequence", "k": "natural >= 1"}, "sum(item(x, j), j, 0, k - 1) >= 0", "seq 0 k_"),
        (
            {"x": "sequence", "k": "natural"},
            "prod(item(x, j), j, 0, k) >= 0",
            "multiplied (seq 0 (S",
        ),
        ({"f": "tradeoff"}, "value(f, 1) = 0", "law l1 f_0 -> law l1 f_1 -> "),
        ({"x": "real"}, "D(x^2, x) = 2*x", "is_derive (fun x_ : R => (x_ ^ 2)) x_ (2 * x_)"),
        ({}, "at(D(y^2, y), y, 3) = 6", "is_derive (fun y_ : R => (y_ ^ 2)) 3 6"),
        ({"x": "real"}, "D(D(x^3, x), x) = 6*x", "is_derive_n (fun x_ : R => (x_ ^ 3)) 2 x_ (6"),
        ({"x": "real > 0"}, "x^(1/2) > 0", "exp ((1 / 2) * ln x_)"),
        ({"x": "real > 0"}, "at(x^(1/2), x, 0) = 0", "real_power x_ (1 / 2)"),
        ({"x": "real > 0"}, "D(x^2, x) = 2*x", "is_derive (fun x_ : R => (x_ ^ 2)) x_ (2 * x_)"),
        ({"x": "real >= 0"}, "x^(1/2) >= 0", "(real_power x_ (1 / 2))"),
        ({"x": "real > 0"}, "x^(1/2) >= 0", "(exp ((1 / 2) * ln x_))"),
        ({"x": "real >= 0", "n": "natural >= 2"}, "x^(n - 1) >= 0", "(x_ ^ (n_ - 1))"),
    ],
)
def test_goals_about_what_is_tested(variables, then, piece):
    assert piece in goal_of(statement({"for_all": variables, "then": [then]}))


def test_each_part_of_a_statement_is_a_goal():
    part = {"for_all": {"x": "real"}, "then": ["x = x"]}
    assert goal_of(statement({**part, "also": [part]})).count("forall (x_ : R)") == 2


@pytest.mark.parametrize(
    "written",
    [
        {"for_all": {"P": "law", "Q": "law"}, "then": ["moment(P, Q, 2) >= 1"]},  # P/Q at 0
        {"for_all": {"P": "law", "Q": "law > 0"}, "then": ["mean(z, z, P, Q) >= 0"]},
        {"for_all": {"P": "law >= 1/2"}, "then": ["total_variation(P, P) = 0"]},
        {"for_all": {"P": "law"}, "then": ["total_variation(P, product(P, P)) = 0"]},
        {"for_all": {"x": "real"}, "then": ["gamma(x) <= 1"]},
        {"for_all": {"x": "real"}, "then": ["x < oo"]},
    ],
)
def test_statements_that_have_no_goal(written):
    with pytest.raises(NoGoal):
        goal_of(statement(written))


def test_only_whole_typed_statements_are_formal(monkeypatch):
    assert formal("steinke.lem36")
    assert accepted("kov.sec6C.abel")
    assert not formal("gdp.thm3")  # theorems by hand, and a part
    assert not formal("steinke.thm22.unionprod")  # the typed statement is a part
    monkeypatch.setattr("proofs_checks.coq.record.accepted", lambda identity: False)
    assert not formal("steinke.lem36")


def test_a_claim_without_a_file():
    assert coq_of("kov.fig1") is None
    assert coq_of("mv.hard") is None  # a source without theorems by hand
    assert not accepted("kov.fig1")


def test_prove_writes_files(tmp_path):
    result = invoke("prove", "kov.thm3.1", "gdp.eq4", "--coq", tmp_path / "theorems")
    assert result.exit_code == 0, result.output
    names = (tmp_path / "theorems" / "_CoqProject").read_text().splitlines()
    assert names[-2:] == ["kov_thm3_1.v", "gdp_eq4.v"]
    assert all((tmp_path / "theorems" / name).exists() for name in names[1:])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prove", "kov.fig1", "--coq", "x"], "claim 'kov.fig1' has no Coq file"),
        (["prove", "kov.thm3.1", "--coq", "/dev/null/x"], "cannot make the folder"),
        (["certify", "laplace(1)", "--epsilon", "1/3", "--coq", "x.v"], "covers laplace(1)"),
        (["certify", "gdp(1) * pure_dp(1)", "--epsilon", "1", "--coq", "x.v"], "beside"),
        (["certify", "gdp(1)", "--coq", "x.v"], "give one of --epsilon and --delta"),
        (["certify", "gdp(1)", "--epsilon", "1"], "--coq"),
        (["certify", "pure_dp(1)^900", "--epsilon", "1", "--coq", "x.v"], "901 terms"),
        (["certify", "pure_dp(1)", "--delta", "1", "--coq", "x.v"], "epsilon = 0"),
        (["certify", "approx_dp(1,1/2)", "--delta", "1/4", "--coq", "x.v"], "epsilon = inf"),
        (["certify", "gdp(1)", "--epsilon", "1", "--coq", "/nowhere/x.v"], "cannot write"),
    ],
)
def test_bad_input_is_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments)
    assert result.exit_code in (2, 74)
    assert message in result.output
    assert len(result.output.splitlines()) == 1


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(7), Fraction(1, 10**40), Fraction(1, 8)])
def test_bounds_are_strict(x):
    assert Fraction(below(x, 6)) < x < Fraction(above(x, 6))


def answered(expr, quantity, at, digits):
    ask = dpexact.delta if quantity == "delta" else dpexact.epsilon
    found = ask(expr, at, digits + 3)
    return theorem(dpexact.parse(expr), quantity, real(at), found, digits)


def test_theorems_do_not_speak_of_other_quantities():
    with pytest.raises(NoCertificate, match="none about renyi"):
        theorem(dpexact.parse("gdp(1)"), "renyi", real(2), dpexact.delta("gdp(1)", 1), 3)


@pytest.mark.parametrize(
    ("expr", "at"), [("pure_dp(1)^3", "0"), ("approx_dp(1, 1/10)^2", "19/100")]
)
def test_an_epsilon_at_the_mass_of_infinite_loss_is_refused(expr, at):
    """Delta is that mass from the largest loss on: an equality."""
    with pytest.raises(NoCertificate, match="tell no equality"):
        answered(expr, "epsilon", at, 6)
    answered(expr, "epsilon", f"{at} + 1e-9", 6)


# --- coqc ----------------------------------------------------------------------------------------


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize("identity", SAMPLE)
def test_coqc_accepts_claims(identity, compiled_library):
    found = compiled(compiled_library, theorem_of(identity), coq_of(identity))
    assert isinstance(found, Accepted), found


#: A claim of each kind whose statement is generated; its mutants must be rejected.
GENERATED = (
    "steinke.lem36",
    "kov.thm3.3.tight",
    "kov.cor2.3",
    "kov.thm3.1",
    "steinke.prop14",
    "gdp.eq4",
    "slides.e71",
)


def with_goal(identity, goal):
    """The Coq file of a claim with another goal and the same proof."""
    text = coq_of(identity)
    own = goal_of(claim(identity).typed)
    assert text.count(own) == 1
    return text.replace(own, goal)


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize("identity", GENERATED)
def test_coqc_rejects_the_mutants_of_a_statement(identity, compiled_library):
    wrong = [with_goal(identity, goal_of(each)) for each in mutants(claim(identity).typed)]
    assert wrong
    for text in wrong:
        found = compiled(compiled_library, f"{theorem_of(identity)}_wrong", text)
        assert isinstance(found, Rejected)


#: What the writer of goals must not confuse: a goal, and what it would be.
CONFUSED = (
    ("kov.eq9_10", "(response1 E_ d_)", "(response0 E_ d_)"),  # the mirrored law
    ("kov.thm3.1", "(seq 0 k_)", "(seq 1 k_)"),  # the first step left out
    ("kov.sec6C.abel", "(seq 0 (S n_))", "(seq 0 n_)"),  # the last term left out
    ("steinke.sec3.kl", "positive_law l1 P_", "law l1 P_"),  # a loss that is not defined
    ("gdp.eq3", "(inverse (tradeoff l1 P_ Q_)) a = ", "(tradeoff l1 P_ Q_) a = "),
    ("kov.sec4.hockey", "(likely F_ P_ Q_)", "(likely F_ Q_ P_)"),
    ("gdp.tv", "(fun x => negb ((likely 1 Q_ P_) x))", "(likely 1 Q_ P_)"),
    ("steinke.thm34.prefactor", "(a_ - 1)", "(a_ - 2)"),
    ("gdp.prop3", "-> 0 <= d_ -> d_ <= 1 ->", "-> 0 <= d_ ->"),  # an end of a domain lost
)


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize(("identity", "piece", "instead"), CONFUSED)
def test_coqc_rejects_goals_that_are_written_wrongly(identity, piece, instead, compiled_library):
    own = goal_of(claim(identity).typed)
    assert piece in own
    text = with_goal(identity, own.replace(piece, instead))
    assert isinstance(compiled(compiled_library, f"{theorem_of(identity)}_wrong", text), Rejected)


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize(
    ("expr", "quantity", "at", "digits"),
    [
        ("approx_dp(1/10, 1/1000)^5", "delta", "1/4", 7),
        ("pure_dp(log(3))^2 * approx_dp(1/7, 1e-6)", "epsilon", "1/10", 6),
        ("gdp(1)", "delta", "1", 5),
    ],
)
def test_coqc_accepts_answers(expr, quantity, at, digits, tmp_path):
    found = compiled(tmp_path, "answer", answered(expr, quantity, at, digits))
    assert isinstance(found, Accepted), found


@needs_coqc
@pytest.mark.slow
def test_coqc_rejects_a_wrong_number(tmp_path):
    text = answered("approx_dp(1/10, 1/1000)^5", "delta", "1/4", 6)
    low = re.search(r"Theorem value : (\S+) <=", text)[1]
    wrong = text.replace(low, str(float(low) * 1.01))
    assert isinstance(compiled(tmp_path, "answer", wrong), Rejected)


@needs_coqc
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Theorem t : 1 = 2.\nAdmitted.\nPrint Assumptions t.", "the file says Admitted"),
        (
            "Section S.\nVariable H : 1 = 2.\nLemma t : 1 = 2. Proof. exact H. Qed.\n"
            "Print Assumptions t.\nEnd S.",
            "it assumes H",
        ),
        ("Theorem t : 1 = 2. Proof. reflexivity. Qed.", "Unable to unify"),
    ],
)
def test_what_is_not_proved_is_not_accepted(text, reason, tmp_path):
    found = compiled(tmp_path, "t", text)
    assert isinstance(found, Rejected)
    assert reason in found.reason


def test_the_order_of_files(tmp_path):
    assert write(tmp_path, ["kov.thm3.1"]) == [f"{name}.v" for name in libraries()] + [
        "kov_thm3_1.v"
    ]
