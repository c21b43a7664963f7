"""The theorem of one answer: which route of the library it takes, its statement and its proof.

At the end stand exact reals and decimal bounds in Coq's notation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Final

from dpexact.accounting.composition import Composition
from dpexact.certificates.statements import NoCertificate
from dpexact.decimals import format_decimal
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import GDP, ApproxDP, Gaussian, Mechanism, PureDP
from dpexact.mechanisms.base import shown
from dpexact.reals import ZERO, Real, square_root
from dpexact.ternary import Order

#: Its files, each after those that it requires.
LIBRARY: Final = ("Finite", "Response", "Sampling", "Gaussian")
_REQUIRE: Final = re.compile(r"^(?:From \w+ )?Require Import [^.]*\.\n", re.MULTILINE)


@cache
def library(name: str) -> str:
    """The text of ``name.v``."""
    return files(__package__).joinpath(f"{name}.v").read_text(encoding="utf-8")


def inlined(names: Sequence[str]) -> str:
    """The files ``names`` as modules of one file, their requirements first.

    >>> print(inlined(["Gaussian"])[:30])
    Require Import Reals.
    From Coq
    """
    requirements: dict[str, None] = {}
    modules = []
    for name in names:
        text = library(name)
        requirements.update(
            dict.fromkeys(line for line in _REQUIRE.findall(text) if "DPExact" not in line)
        )
        body = _REQUIRE.sub("", text).strip()
        modules.append(f"Module {name}.\n{body}\nEnd {name}.\nImport {name}.\n")
    return "".join(requirements) + "\n" + "\n".join(modules)


#: Most outcomes of the numbers of yes that a sum may have: coqc's time stays below a minute.
MAX_TERMS: Final = 200
#: Most digits of the bounds.
MAX_DIGITS: Final = 30
_GUARD_BITS: Final = 64

_HEAD: Final = """(* {words}
   {scope}
   Written by dpexact. Check it with Coq 8.16 and coq-interval 4.6: coqc FILE *)
"""


@dataclass(frozen=True, slots=True)
class Question:
    """``quantity`` is delta at the epsilon ``at``, or epsilon at the delta ``at``."""

    quantity: str
    at: Real


def theorem(
    mechanism: Mechanism, quantity: str, at: Real, found: Enclosure, digits: int = 12
) -> str:
    """A file for ``coqc`` that proves ``found`` for ``quantity`` of ``mechanism`` at ``at``.

    The bounds have ``digits`` significant digits, or as many as ``found`` has. All directions have
    the same theorem: the pairs that it speaks of are symmetric.

    Raises:
        NoCertificate: no route of the library covers the mechanism, or the answer.
    """
    if quantity not in ("delta", "epsilon"):
        raise NoCertificate(f"no theorem: there is none about {quantity}")
    digits = min(digits, MAX_DIGITS, found.digits)
    if digits < 1 or not isinstance(found.upper, Fraction):
        raise NoCertificate(f"no theorem: {quantity} = {found} has no digits to state")
    if quantity == "epsilon" and found.lower <= 0:
        raise NoCertificate(f"no theorem: epsilon = {found} is not above 0")
    ends = below(Fraction(found.lower), digits), above(found.upper, digits)
    question = Question(quantity, at)
    steps = mechanism.steps()
    if all(isinstance(step, ApproxDP | PureDP) for step in steps):
        infinite = Composition.of(steps.items()).beside
        if quantity == "epsilon" and infinite.order(at, digits) is Order.EQUAL:
            raise NoCertificate(
                f"no theorem: delta = {at} is attained at the largest loss, and the intervals of "
                "Coq tell no equality"
            )
        return _responses(shown(mechanism), steps, question, ends, digits)
    if all(isinstance(step, GDP | Gaussian) for step in steps):
        total = Composition.of(steps.items()).mu_squared
        return _gaussians(shown(mechanism), total, question, ends, digits)
    other = next(
        (step for step in steps if not isinstance(step, ApproxDP | PureDP | GDP | Gaussian)), None
    )
    which = str(other) if other else "Gaussians beside approx_dp or pure_dp"
    raise NoCertificate(
        f"no theorem: no Coq route covers {which}; "
        "covered are compositions of approx_dp and pure_dp, and of gaussian and gdp"
    )


def _bits(question: Question, ends: tuple[str, str], digits: int) -> int:
    """Bits that should do: those of the digits and of a small delta."""
    small = Fraction(ends[1])
    if question.quantity == "epsilon":
        small = question.at.fraction or Fraction(1, 10**12)
    # proposes: coqc has the last word
    return _GUARD_BITS + 4 * digits + max(0, math.ceil(-math.log2(small or 1)))


# --- randomized response -------------------------------------------------------------------------


def _responses(
    name: str,
    steps: Mapping[Mechanism, int],
    question: Question,
    ends: tuple[str, str],
    digits: int,
) -> str:
    terms = math.prod(count + 1 for count in steps.values())
    if terms > MAX_TERMS:
        raise NoCertificate(
            f"no theorem: {name} has {terms} terms to sum in Coq; accepted are {MAX_TERMS} at most"
        )
    groups = "; ".join(
        f"Group (Step {_argument(step.eps)} "
        f"{_argument(step.delta if isinstance(step, ApproxDP) else ZERO)}) {count}"
        for step, count in steps.items()
        if isinstance(step, ApproxDP | PureDP)
    )
    rows = "\n".join(
        f"  let r := eval vm_compute in (row {count}) in change (row {count}) with r."
        for count in sorted({*steps.values()})
    )
    bits, at, (low, high) = _bits(question, ends, digits), term(question.at), ends
    if question.quantity == "delta":
        words = f"{name}: {low} <= delta({question.at}) <= {high}."
        places, loss, bound = [("value", at, f"{low} <= {{}} <= {high}")], at, high
    else:
        words = f"{name}: {low} < epsilon({question.at}) <= {high}."
        places = [("value", high, f"{{}} <= {at}"), ("value_below", low, f"{at} < {{}}")]
        loss, bound = high, at
    # a notation above and whole terms here: unifying definitions computes sums over all words
    bounded = "(proj2 value)" if question.quantity == "delta" else "value"
    values = "\n".join(
        _value(label, where, relation, rows, bits) for label, where, relation in places
    )
    scope = (
        "For every adaptive composition of such steps with finitely many outcomes;\n"
        "   the composition of randomized responses has no smaller one."
    )
    not_smaller, less = (at, low) if question.quantity == "delta" else (low, at)
    strict = "value_below" if question.quantity == "epsilon" else "value"
    positive = Fraction(less) > 0 if question.quantity == "delta" else True
    optimal = ""
    if positive:
        optimal = f"""
(** No smaller delta will do: the randomized responses have more. *)
Theorem optimal : forall d, d < {less} ->
  ~ close (outcomes (expand steps)) {not_smaller} d (law0 (expand steps)) (law1 (expand steps)).
Proof.
  intros d Hd H. apply close_iff_HS in H. pose proof {strict}. lra.
Qed.
"""
    return f"""{_HEAD.format(words=words, scope=scope)}{inlined(["Finite", "Response"])}
From Interval Require Import Tactic.
Import ListNotations.
Open Scope R_scope.

(** The steps: epsilon, delta, and how many of them. *)
Definition steps : list group := [{groups}].

Lemma steps_valid : Forall (fun a => valid (each a)) steps.
Proof.
  repeat (apply Forall_cons || apply Forall_nil); unfold valid; cbn [each epsilon delta];
    repeat split; first [lra | interval].
Qed.

(** The hockey-stick divergence at e^x of the composed randomized responses. *)
Notation divergence x :=
  (HS (outcomes (expand steps)) (exp x) (law0 (expand steps)) (law1 (expand steps))).
{values}
(** Every adaptive composition of such steps is ({loss}, {bound})-DP. *)
Theorem certified : forall (B : Type) (outputs : list B) X Y,
  adaptive (expand steps) outputs X Y ->
  dp (words outputs (length (expand steps))) {loss} {bound} (run X) (run Y).
Proof.
  intros B outputs X Y H. exact (composition_dp (expand steps) outputs X Y {loss} {bound}
    (valid_expand steps steps_valid) H {bounded}).
Qed.
{optimal}
Print Assumptions certified.
"""


def _value(label: str, where: str, relation: str, rows: str, bits: int) -> str:
    return f"""
Theorem {label} : {relation.format(f"divergence {where}")}.
Proof.
  rewrite (optimal_composition_computed steps {where} steps_valid).
  unfold steps. cbn [computed times each epsilon delta]. cbv zeta.
{rows}
  cbn [row_sum]. interval with (i_prec {bits}).
Qed.
"""


def _argument(x: Real) -> str:
    shown_term = term(x)
    return shown_term if shown_term[0] == "(" or shown_term.isalnum() else f"({shown_term})"


# --- Gaussian noise ------------------------------------------------------------------------------


def _gaussians(
    name: str, total: Real, question: Question, ends: tuple[str, str], digits: int
) -> str:
    """``total`` is ``mu^2``."""
    mu_term = term(square_root(total))
    if total.fraction == 0:
        raise NoCertificate(f"no theorem: {name} has mu = 0: its delta is 0")
    bits, at, (low, high) = _bits(question, ends, digits), term(question.at), ends
    width = bits - _GUARD_BITS // 2
    if question.quantity == "delta":
        words = f"{name}: {low} <= delta({question.at}) <= {high}."
        places = [("certified", at, f"{low} <= {{}} <= {high}")]
    else:
        words = f"{name}: {low} < epsilon({question.at}) <= {high}."
        places = [("certified", high, f"{{}} <= {at}"), ("optimal", low, f"{at} < {{}}")]
    proofs = "\n".join(
        f"""
Theorem {label} : {relation.format(f"gaussian_delta mu {where}")}.
Proof.
  unfold gaussian_delta, Phi, bell, mu.
  do 2 (match goal with |- context [RInt ?f 0 ?b] =>
    integral_intro (RInt f 0 b)
      with (i_prec {bits}, i_width (-{width}), i_degree 20, i_fuel 2000) as bound;
    revert bound; generalize (RInt f 0 b)
  end).
  intros k K h H. interval with (i_prec {bits}).
Qed.
"""
        for label, where, relation in places
    )
    scope = (
        "About the closed form of the Gaussian's delta; that it is the divergence of N(mu, 1)\n"
        "   and N(0, 1) is a theorem of the literature, see Gaussian below."
    )
    return f"""{_HEAD.format(words=words, scope=scope)}{inlined(["Gaussian"])}
From Interval Require Import Tactic.
Open Scope R_scope.

(** N(mu, 1) against N(0, 1): all Gaussian steps together. *)
Definition mu : R := {mu_term}.
{proofs}
Print Assumptions certified.
"""


_FUNCTIONS = {"log": "ln", "exp": "exp", "sqrt": "sqrt"}


def term(x: Real) -> str:
    """An exact real.

    >>> from dpexact.conversion import real
    >>> term(real("log(1.5) * 3 - 2"))
    '(((ln (3 / 2)) * 3) + (- 2))'
    """
    if x.fraction is not None:
        return fraction(x.fraction)
    if x.operator == "pi":
        return "PI"
    if x.operator == "e":
        return "(exp 1)"
    parts = [*map(term, x.arguments)]
    if x.operator in _FUNCTIONS:
        return f"({_FUNCTIONS[x.operator]} {parts[0]})"
    if x.operator == "^":
        count = int(str(x.arguments[1]))
        return f"({parts[0]} ^ {count})" if count >= 0 else f"(/ ({parts[0]} ^ {-count}))"
    return f"({parts[0]} {x.operator} {parts[1]})"


def fraction(x: Fraction) -> str:
    """A fraction.

    >>> fraction(Fraction(-3, 2)), fraction(Fraction(7))
    ('(- (3 / 2))', '7')
    """
    if x < 0:
        return f"(- {fraction(-x)})"
    return str(x.numerator) if x.denominator == 1 else f"({x.numerator} / {x.denominator})"


def below(x: Fraction, digits: int) -> str:
    """A decimal below ``x >= 0``, off by more than rounding: it is strictly below where ``x > 0``.

    >>> below(Fraction(1, 3), 4)
    '0.33333'
    """
    return format_decimal(x - x / Fraction(10) ** (digits + 1), digits + 1, ROUND_FLOOR)


def above(x: Fraction, digits: int) -> str:
    """A decimal strictly above ``x >= 0``; 10^-digits for 0.

    >>> above(Fraction(1, 3), 4), above(Fraction(0), 4)
    ('0.33334', '0.0001')
    """
    least = x + x / Fraction(10) ** (digits + 1) if x else Fraction(1, 10**digits)
    return format_decimal(least, digits + 1, ROUND_CEILING)
