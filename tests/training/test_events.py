"""Every event of dp-accounting, released or in development, and the way back."""

from __future__ import annotations

import json
import math
import pickle
from collections import namedtuple
from dataclasses import fields, make_dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact import pure_dp
from dpexact.audits import Claim, judge
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import (
    Composition,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    Repetition,
    Replace,
    TruncatedPoisson,
)
from dpexact.training.events import UnsupportedEvent, from_dp_event
from dpexact.training.logs import read_log
from dpexact.training.to_events import to_dp_event

released = pytest.importorskip("dp_accounting.dp_event")
dp_accounting = pytest.importorskip("dp_accounting")

#: Fields of the events that only the development version has.
DEVELOPED = {
    "EpsilonDeltaDpEvent": ("epsilon", "delta"),
    "DiscreteGaussianDpEvent": ("sigma", "sensitivity", "dimension"),
    "ExponentialMechanismDpEvent": ("epsilon",),
    "PermuteAndFlipDpEvent": ("epsilon",),
    "RandomAllocationDpEvent": ("event", "num_selected", "num_steps"),
}
ALL = ("add-remove", "zero-out", "replace")
ADDED = ("add-remove",)
THERE = ("add-remove", "zero-out")
REPLACED = ("replace",)


def event(name, **values):
    """An event as a mapping: of releases that are not installed too."""
    return {"class_name": f"{name}DpEvent", **values}


def made(tree):
    """The object of the installed release that the mapping ``tree`` describes."""
    if isinstance(tree, list):
        return [made(each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    values = {key: made(value) for key, value in tree.items() if key != "class_name"}
    return getattr(released, tree["class_name"])(**values)


def names(tree):
    if isinstance(tree, list):
        return set().union(*map(names, tree))
    inside = set().union(*map(names, tree.values())) if isinstance(tree, dict) else set()
    return inside | ({tree["class_name"]} if isinstance(tree, dict) else set())


NOTHING = event("NoOp")
ALL_OF_IT = event("NonPrivate")
STEP = event("Gaussian", noise_multiplier=1.5)
LAPLACE = event("Laplace", noise_multiplier=0.5)
COUNTS = event("DiscreteLaplace", noise_parameter=0.5, sensitivity=3)
ZCDP = {"class_name": "ZCDpEvent", "rho": 0.5}
GUARANTEE = event("EpsilonDelta", epsilon=0.5, delta=0.25)
CHOICE = event("ExponentialMechanism", epsilon=0.5)
FLIP = event("PermuteAndFlip", epsilon=0.5)


def response(p, k):
    return event("RandomizedResponse", noise_parameter=p, num_buckets=k)


def integers(sigma, sensitivity=1.0, dimension=None):
    return event("DiscreteGaussian", sigma=sigma, sensitivity=sensitivity, dimension=dimension)


def times(inner, count):
    return event("SelfComposed", event=inner, count=count)


def both(*parts):
    return event("Composed", events=list(parts))


def sampled(inner, q=0.5):
    return event("PoissonSampled", sampling_probability=q, event=inner)


def drawn(inner, m=10, n=100):
    return event("SampledWithoutReplacement", source_dataset_size=n, sample_size=m, event=inner)


def allocated(inner, k=1, t=100):
    return event("RandomAllocation", event=inner, num_selected=k, num_steps=t)


def tree(steps, noise=1.5):
    return event("SingleEpochTreeAggregation", noise_multiplier=noise, step_counts=steps)


def mixture(sensitivities, probabilities, sigma=1.5):
    return event(
        "MixtureOfGaussians",
        standard_deviation=sigma,
        sensitivities=sensitivities,
        sampling_probs=probabilities,
    )


def cut(q=0.5, batch=60, noise=1.5, n=100):
    return event(
        "TruncatedSubsampledGaussian",
        dataset_size=n,
        sampling_probability=q,
        truncated_batch_size=batch,
        noise_multiplier=noise,
    )


EXPRESSED = [
    (NOTHING, ALL, "pure_dp(0)"),
    (ALL_OF_IT, ALL, "approx_dp(0, 1)"),
    (STEP, THERE, "gaussian(1.5)"),
    (STEP, REPLACED, "gaussian(1.5, 2)"),
    (event("Gaussian", noise_multiplier=0.0), ALL, "approx_dp(0, 1)"),
    (LAPLACE, THERE, "laplace(0.5)"),
    (LAPLACE, REPLACED, "laplace(0.5, 2)"),
    (COUNTS, THERE, "discrete_laplace(2, 3)"),
    (COUNTS, REPLACED, "discrete_laplace(2, 6)"),
    (event("DiscreteLaplace", noise_parameter=0.0, sensitivity=3), ALL, "approx_dp(0, 1)"),
    (event("DiscreteLaplace", noise_parameter=0.0, sensitivity=0), ALL, "pure_dp(0)"),
    (event("RepeatAndSelect", event=NOTHING, mean=3.0, shape=1.0), ALL, "pure_dp(0)"),
    (
        event("RepeatAndSelect", event=STEP, mean=3.0, shape=1.0),
        THERE,
        "repeat_and_select(gaussian(1.5), 3, 1)",
    ),
    (
        event("RepeatAndSelect", event=STEP, mean=3.0, shape=math.inf),
        REPLACED,
        "repeat_and_select(gaussian(1.5, 2), 3)",
    ),
    (cut(), REPLACED, "replace(truncated_poisson(gaussian(1.5), 0.5, 100, 60))"),
    (event("RepeatAndSelect", event=ALL_OF_IT, mean=3.0, shape=0.5), ALL, "approx_dp(0, 1)"),
    (integers(2.0), ALL, "discrete_gaussian(2)"),
    (integers(2.0, 1.25), ALL, "discrete_gaussian(2)"),
    (integers(2.0, 3.5, 1), ALL, "discrete_gaussian(2, 3)"),
    (integers(2.0, 3.0), ALL, "zcdp(9/8)"),
    (integers(2.0, 1.5, 2), ALL, "zcdp(9/32)"),
    (integers(2.0, math.sqrt(2), 7), ALL, f"zcdp({Fraction(math.sqrt(2)) ** 2 / 8})"),
    (integers(2.0, 0.5), ALL, "pure_dp(0)"),
    (integers(0.0), ALL, "approx_dp(0, 1)"),
    (response(0.5, 2), REPLACED, "pure_dp(log(3))"),
    (response(0.5, 1), REPLACED, "pure_dp(0)"),
    (response(0.0, 1), REPLACED, "pure_dp(0)"),
    (response(0.0, 2), REPLACED, "approx_dp(0, 1)"),
    (response(1.0, 2), REPLACED, "pure_dp(0)"),
    (response(1.0, 5), ("zero-out", "replace"), "pure_dp(0)"),
    (response(0.5, 4), REPLACED, "pair((5/8, 1/8), (1/8, 5/8), (1/4, 1/4))"),
    (response(0.5, 4), ("zero-out",), "pair((5/8, 1/4), (3/8, 3/4))"),
    (response(0.5, 2), ("zero-out",), "pair((3/4, 1/2), (1/4, 1/2))"),
    (response(0.0, 4), REPLACED, "approx_dp(0, 1)"),
    (response(0.0, 4), ("zero-out",), "pair((1, 1/4), (0, 3/4))"),
    (times(response(0.5, 4), 3), REPLACED, "pair((5/8, 1/8), (1/8, 5/8), (1/4, 1/4))^3"),
    (GUARANTEE, ALL, "approx_dp(0.5, 0.25)"),
    (event("EpsilonDelta", epsilon=0.5, delta=0.0), ALL, "pure_dp(0.5)"),
    (event("EpsilonDelta", epsilon=0.0, delta=0.0), ALL, "pure_dp(0)"),
    (CHOICE, ALL, "adaptive(bounded_range(0.5))"),
    (times(CHOICE, 3), ALL, "adaptive(bounded_range(0.5))^3"),
    (event("ExponentialMechanism", epsilon=0.0), ALL, "pure_dp(0)"),
    (FLIP, ALL, "permute_and_flip(0.5)"),
    (times(FLIP, 3), ALL, "permute_and_flip(0.5)^3"),
    (event("PermuteAndFlip", epsilon=0.0), ALL, "pure_dp(0)"),
    (ZCDP, ALL, "zcdp(0.5)"),
    (ZCDP | {"xi": 0.25}, ALL, "zcdp(0.25, 0.5)"),
    (ZCDP | {"rho": 0.0}, ALL, "pure_dp(0)"),
    (sampled(STEP), THERE, "poisson(gaussian(1.5), 0.5)"),
    (sampled(STEP, 0.0), THERE, "pure_dp(0)"),
    (sampled(STEP, 1.0), THERE, "gaussian(1.5)"),
    (sampled(STEP), REPLACED, "replace(poisson(gaussian(1.5), 0.5))"),
    (sampled(STEP, 1.0), REPLACED, "gaussian(1.5, 2)"),
    (sampled(STEP, 0.0), REPLACED, "pure_dp(0)"),
    (sampled(sampled(STEP)), REPLACED, "replace(poisson(poisson(gaussian(1.5), 0.5), 0.5))"),
    (times(sampled(STEP), 7), REPLACED, "replace(poisson(gaussian(1.5), 0.5))^7"),
    (sampled(ALL_OF_IT), REPLACED, "approx_dp(0, 0.5)"),
    (sampled(GUARANTEE, 1.0), ALL, "approx_dp(0.5, 0.25)"),
    (sampled(NOTHING), THERE, "pure_dp(0)"),
    (sampled(ALL_OF_IT), THERE, "poisson(approx_dp(0, 1), 0.5)"),
    (sampled(LAPLACE), THERE, "poisson(laplace(0.5), 0.5)"),
    (sampled(times(STEP, 2)), THERE, "poisson(gaussian(1.5)^2, 0.5)"),
    (sampled(both(STEP, LAPLACE)), THERE, "poisson(gaussian(1.5) * laplace(0.5), 0.5)"),
    (sampled(sampled(STEP)), THERE, "poisson(poisson(gaussian(1.5), 0.5), 0.5)"),
    (sampled(GUARANTEE), ADDED, "poisson(approx_dp(0.5, 0.25), 0.5)"),
    (sampled(integers(2.0)), ADDED, "poisson(discrete_gaussian(2), 0.5)"),
    (times(sampled(STEP), 7), THERE, "poisson(gaussian(1.5), 0.5)^7"),
    (times(times(STEP, 3), 7), THERE, "gaussian(1.5)^21"),
    (times(STEP, 0), ALL, "pure_dp(0)"),
    (times(ALL_OF_IT, 0), ALL, "pure_dp(0)"),
    (times(NOTHING, 3), ALL, "pure_dp(0)"),
    (both(), ALL, "pure_dp(0)"),
    (both(NOTHING), ALL, "pure_dp(0)"),
    (both(STEP, NOTHING), THERE, "gaussian(1.5)"),
    (both(STEP, both(LAPLACE, STEP)), THERE, "gaussian(1.5) * laplace(0.5) * gaussian(1.5)"),
    (times(both(STEP, LAPLACE), 2), THERE, "(gaussian(1.5) * laplace(0.5))^2"),
    (drawn(STEP), REPLACED, "fixed_size(gaussian(1.5, 2), 10, 100)"),
    (allocated(STEP), THERE, "allocation(gaussian(1.5), 100)"),
    (allocated(STEP, 10), THERE, "allocation(gaussian(1.5), 100, 10)"),
    (allocated(STEP, 100), THERE, "gaussian(1.5)^100"),
    (allocated(STEP, 0), THERE, "pure_dp(0)"),
    (drawn(STEP, 0), REPLACED, "pure_dp(0)"),
    (drawn(STEP, 100), REPLACED, "gaussian(1.5, 2)"),
    (tree(8), ("zero-out",), "gaussian(1.5)^4"),
    (tree([7, 3]), ("zero-out",), "gaussian(1.5)^3"),
    (tree(0), ("zero-out",), "pure_dp(0)"),
    (tree(8, 0.0), ("zero-out",), "approx_dp(0, 1)^4"),
    (mixture([0.0, 2.0], [0.75, 0.25]), THERE, "poisson(gaussian(1.5, 2), 0.25)"),
    (mixture([0.0, 2.0, 2.0], [0.75, 0.125, 0.125]), THERE, "poisson(gaussian(1.5, 2), 0.25)"),
    (mixture([2.0, 3.0], [1.0, 0.0]), THERE, "gaussian(1.5, 2)"),
    (
        mixture([2.0, 0.0, 3.0], [0.25, 0.5, 0.25]),
        THERE,
        "gaussian_mixture(1.5, 0: 0.5, 2: 0.25, 3: 0.25)",
    ),
    (mixture([2.0, 3.0], [0.75, 0.25]), THERE, "gaussian_mixture(1.5, 2: 0.75, 3: 0.25)"),
    (
        sampled(mixture([2.0, 3.0], [0.75, 0.25])),
        ADDED,
        "poisson(gaussian_mixture(1.5, 2: 0.75, 3: 0.25), 0.5)",
    ),
    (cut(), THERE, "truncated_poisson(gaussian(1.5), 0.5, 100, 60)"),
    (cut(noise=0.0), THERE, "approx_dp(0, 1)"),
    (cut(q=0.0, batch=0, noise=0.0, n=0), THERE, "pure_dp(0)"),
    (cut(batch=0, noise=0.0), THERE, "pure_dp(0)"),
    (mixture([0.0], [1.0]), THERE, "pure_dp(0)"),
    (mixture([0.0, 1.0], [0.75, 0.25], 0.0), THERE, "poisson(approx_dp(0, 1), 0.25)"),
    (mixture([1.0], [1.0], 0.0), THERE, "approx_dp(0, 1)"),
]
REFUSED = [
    (event("Unsupported"), ALL, "Unsupported"),
    (event("Unheard"), ALL, "no form"),
    (response(0.5, 2), ADDED, "needs neighbours by zero-out or replace"),
    (sampled(GUARANTEE), REPLACED, "EpsilonDeltaDpEvent: on a sample"),
    (sampled(GUARANTEE), ("zero-out",), "EpsilonDeltaDpEvent: on a sample"),
    (sampled(FLIP), ("zero-out",), "PermuteAndFlipDpEvent: on a sample"),
    (sampled(both(STEP, ZCDP)), ("zero-out",), "ZCDpEvent: on a sample"),
    (sampled(integers(2.0)), ("zero-out",), "DiscreteGaussianDpEvent: on a sample"),
    (sampled(tree(3)), ("zero-out",), "SingleEpochTreeAggregationDpEvent: "),
    (allocated(STEP), REPLACED, "needs neighbours by add-remove or zero-out"),
    (drawn(STEP), THERE, "needs neighbours by replace"),
    (tree(8), ("add-remove", "replace"), "needs neighbours by zero-out"),
    (mixture([1.0], [1.0]), REPLACED, "needs neighbours by add-remove or zero-out"),
    (
        event("SampledWithReplacement", source_dataset_size=100, sample_size=10, event=STEP),
        ALL,
        "drawn several times",
    ),
    (
        sampled(event("RepeatAndSelect", event=STEP, mean=3.0, shape=1.0)),
        ("zero-out",),
        "on a sample",
    ),
    (sampled(cut()), ("zero-out",), "TruncatedSubsampledGaussianDpEvent: on a sample"),
]


def under(rows):
    return [(x, way, text) for x, ways, text in rows for way in ways]


def named(value):
    """A DpEvent as JSON values, through the package's own serialisable form."""
    if hasattr(value, "_asdict"):
        return {key: named(each) for key, each in value._asdict().items()}
    return [named(each) for each in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(("described", "way", "text"), under(EXPRESSED), ids=str)
def test_an_event_is_the_mechanism_that_it_describes(described, way, text, tmp_path):
    wanted = dpexact.parse(text)
    assert from_dp_event(described, neighbours=way) == wanted
    path = tmp_path / "event.json"
    path.write_text(json.dumps(described))
    assert read_log(path, neighbours=way) == wanted or text.startswith("zcdp(")  # decimals
    if not names(described) & DEVELOPED.keys():
        real = made(described)
        assert from_dp_event(real, neighbours=way) == wanted
        assert from_dp_event(real.to_named_tuple(), neighbours=way) == wanted
        path.write_text(json.dumps(named(real.to_named_tuple())))
        assert read_log(path, neighbours=way) == wanted


@pytest.mark.parametrize(("described", "way", "reason"), under(REFUSED), ids=str)
def test_what_cannot_be_expressed_is_refused_by_name(described, way, reason):
    with pytest.raises(UnsupportedEvent, match=reason) as caught:
        from_dp_event(times(both(NOTHING, described), 0), neighbours=way)
    assert str(caught.value).split(":")[0] in names(described)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.event) == (str(caught.value), caught.value.event)


def test_every_event_is_expressed_or_refused():
    known = {
        name
        for name, kind in vars(released).items()
        if isinstance(kind, type)
        and issubclass(kind, released.DpEvent)
        and kind is not released.DpEvent
    }
    tested = set().union(*(names(described) for described, *_ in EXPRESSED + REFUSED))
    assert tested >= known | DEVELOPED.keys()


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (None, "is not a DpEvent"),
        (3, "is not a DpEvent"),
        ("GaussianDpEvent", "is not a DpEvent"),
        ({}, "is not a DpEvent"),
        ({"class_name": "dict"}, "is not a DpEvent"),
        ({"class_name": 3}, "is not a DpEvent"),
        (event("Gaussian"), "has no noise_multiplier"),
        (event("Gaussian", noise_multiplier=-1), "noise_multiplier: -1"),
        (event("Gaussian", noise_multiplier=math.nan), "noise_multiplier: nan"),
        (event("Laplace", noise_multiplier=math.inf), "noise_multiplier: inf"),
        (times(STEP, -1), "count: -1"),
        (times(STEP, 1.5), "count: 1.5"),
        (times(times(STEP, 10**10), 10**10), "count: 1"),
        (sampled(STEP, 1.5), "sampling_probability: 1.5"),
        (both(STEP, 3), "3 is not a DpEvent"),
        (event("Composed", events=STEP), "is not a list"),
        (drawn(STEP, 101), "sample_size: 101"),
        (integers(-1.0), "sigma: -1"),
        (integers(1.0, 1.0, 1.5), "dimension: 1.5"),
        (event("EpsilonDelta", epsilon=1, delta=2), "delta: 2"),
        (FLIP | {"epsilon": -1}, "epsilon: -1"),
        (mixture([1.0], []), "sampling_probs: there must be one"),
        (mixture([1.0, 2.0], [0.5, 0.25]), "their sum is 0.75"),
        (mixture([-1.0], [1.0]), "sensitivities: -1"),
        (mixture([1.0], [-1.0]), "sampling_probs: -1"),
        (response(1.5, 2), "noise_parameter: 1.5"),
        (response(0.5, 0), "num_buckets: 0"),
        (ZCDP | {"Xi": 0.5}, "ZCDpEvent has no 'Xi'"),
        (sampled(STEP | {"sensitivity": 2}, 0.5), "GaussianDpEvent has no 'sensitivity'"),
        (namedtuple("Zero", "class_name xl")("NoOpDpEvent", 1), "NoOpDpEvent has no 'xl'"),
        (event("SampledWithReplacement", sample_size=2, event=NOTHING), "no source_dataset_size"),
        (
            event(
                "SampledWithReplacement",
                source_dataset_size=9,
                sample_size=2,
                batch=3,
                event=NOTHING,
            ),
            "SampledWithReplacementDpEvent has no 'batch'",
        ),
    ],
    ids=str,
)
def test_what_is_no_event_is_one_line(wrong, reason):
    fixed = {"num_buckets", "sample_size"} & set(wrong if isinstance(wrong, dict) else ())
    with pytest.raises(InvalidInput, match=reason) as caught:
        from_dp_event(wrong, neighbours="replace" if fixed else "add-remove")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(event("Composed", events=10**5000), id="long"),
        pytest.param({"class_name": "SelfComposedDpEvent", "count": 2, "event": 10**5000}, id="no"),
        pytest.param(
            event("RepeatAndSelect", event=STEP, mean=1, shape=np.array([])), id="no number"
        ),
    ],
)
def test_what_cannot_be_shown_or_compared_is_refused_even_so(wrong):
    with pytest.raises(InvalidInput):
        from_dp_event(wrong)


def test_neighbours_are_one_of_three():
    for function in (from_dp_event, to_dp_event):
        with pytest.raises(InvalidInput, match="use add-remove, zero-out, replace"):
            function(pure_dp(1), neighbours="near")


def test_events_that_are_nested_too_deep_are_refused():
    deep = STEP
    for _ in range(90):
        deep = both(deep)
    assert str(from_dp_event(deep)) == "gaussian(1.5)"
    for _ in range(10**4):
        deep = both(deep)
    with pytest.raises(InvalidInput, match="nested more than 100 deep"):
        from_dp_event(deep)


@pytest.mark.parametrize("probabilities", [[0.7, 0.2, 0.1], [0.1] * 10, [1 / 3] * 3])
def test_probabilities_that_are_floats_need_not_sum_to_one(probabilities):
    assert sum(map(Fraction, probabilities)) != 1
    sensitivities = [0.0] * (len(probabilities) - 1) + [1.0]
    found = from_dp_event(mixture(sensitivities, probabilities))
    assert found.q.fraction == Fraction(probabilities[-1]) / sum(map(Fraction, probabilities))


@pytest.mark.slow
def test_the_answers_of_dp_accounting_are_near():
    run = made(both(times(sampled(STEP, 0.01), 300), STEP))
    theirs = dp_accounting.pld.PLDAccountant().compose(run).get_epsilon(1e-5)
    truth = dpexact.epsilon(from_dp_event(run), 1e-5, digits=8)
    assert truth.upper <= theirs <= Fraction(truth.upper) * Fraction("1.001")


# --- permute and flip: docs/theory/events.md, Proposition 3 ---------------------------------------


@given(
    st.lists(st.integers(-6, 6), min_size=2, max_size=5),
    st.data(),
    st.sampled_from(["3/4", "1/2", "1/10", "1/256"]),
)
def test_permute_and_flip_is_dominated_by_laplace(scores, data, flip):
    """Exactly: the probability of each set of choices, against the trade-off of the noise."""
    moved = [s + data.draw(st.integers(-1, 1)) for s in scores]
    flip = Fraction(flip)  # exp(-eps/2)
    first, second = choices(scores, flip), choices(moved, flip)
    for chosen in range(1 << len(scores)):
        inside = [i for i in range(len(scores)) if chosen >> i & 1]
        p, q = sum(first[i] for i in inside), sum(second[i] for i in inside)
        assert q <= 1 - laplace_tradeoff(p, flip**2)


def test_only_one_run_of_permute_and_flip_is_attained():
    """What is known of several runs is an upper bound, which convicts nobody who claims less."""
    answers = [dpexact.delta(from_dp_event(run), 1, 6) for run in (FLIP, times(FLIP, 3))]
    assert [answer.bound for answer in answers] == ["exact", "upper"]


def test_what_the_range_of_choices_proves_is_not_convicted():
    """100 exponential mechanisms of 1/8 have rho = 100/512: a bound by it is right."""
    runs = from_dp_event(times(event("ExponentialMechanism", epsilon=0.125), 100))
    theirs = dpexact.epsilon("zcdp(100/512)", "1e-5", 8).upper
    assert theirs < dpexact.epsilon("pure_dp(1/8)^100", "1e-5", 8).lower
    assert judge(Claim(runs, "epsilon", theirs, "1e-5", "upper")).verdict == "sound"
    assert judge(Claim(runs, "epsilon", "2.6", "1e-5", "upper")).verdict == "undecided"


def choices(scores, flip):
    """The law of permute-and-flip where a score that is one lower wins ``flip`` times as often."""
    n = len(scores)
    best = max(scores)
    heads = [flip ** (best - s) for s in scores]
    law = []
    for i in range(n):
        # over the subsets that come earlier: all of them showed tails
        total = Fraction(0)
        others = [j for j in range(n) if j != i]
        for before in range(1 << (n - 1)):
            earlier = [others[k] for k in range(n - 1) if before >> k & 1]
            k = len(earlier)
            weight = Fraction(math.factorial(k) * math.factorial(n - 1 - k), math.factorial(n))
            total += weight * math.prod(1 - heads[j] for j in earlier)
        law.append(heads[i] * total)
    assert sum(law) == 1
    return law


def laplace_tradeoff(alpha, inverse):
    """Of Laplace noise at ``alpha``, where ``inverse`` is ``exp(-eps)``."""
    if alpha <= inverse / 2:
        return 1 - alpha / inverse
    if alpha <= Fraction(1, 2):
        return inverse / (4 * alpha)
    return inverse * (1 - alpha)


# --- the way back ---------------------------------------------------------------------------------


@pytest.fixture
def development(monkeypatch):
    """The installed release with the events that the development version has beside."""
    for name, held in DEVELOPED.items():
        monkeypatch.setattr(released, name, make_dataclass(name, held), raising=False)


def ways_of(mechanism):
    """The mechanism with noise in units of what moves: ``gaussian(3, 2)`` is ``gaussian(1.5)``."""
    if isinstance(mechanism, Composition):
        return [ways_of(part) for part in mechanism.parts]
    if isinstance(mechanism, Repetition | Poisson | FixedSize):
        rest = {f.name: getattr(mechanism, f.name) for f in fields(mechanism)}
        return type(mechanism), rest | {"mechanism": ways_of(mechanism.mechanism)}
    if isinstance(mechanism, Replace | TruncatedPoisson):
        return type(mechanism), ways_of(mechanism.mechanism)
    if isinstance(mechanism, Gaussian):
        return Gaussian, mechanism.sigma / mechanism.sensitivity
    return (
        mechanism
        if not isinstance(mechanism, Laplace)
        else (Laplace, mechanism.scale / mechanism.sensitivity)
    )


@pytest.mark.usefixtures("development")
@pytest.mark.parametrize(("described", "way", "text"), under(EXPRESSED), ids=str)
def test_a_mechanism_that_came_from_an_event_goes_back(described, way, text):
    found = from_dp_event(described, neighbours=way)
    written = to_dp_event(found, neighbours=way)
    again = from_dp_event(written, neighbours=way)
    if text.startswith("zcdp"):  # the square of a float is rounded upward
        assert 0 <= again.rho.fraction - found.rho.fraction <= found.rho.fraction / 2**52
        return
    assert to_dp_event(again, neighbours=way) == written
    assert ways_of(again) == ways_of(found)


@pytest.mark.parametrize(
    ("text", "way", "reason"),
    [
        ("staircase(1, 1/2)", "add-remove", "staircase"),
        ("pair((1/2, 2/5), (1/2, 3/5))", "zero-out", "pair"),
        ("pair((1/2, 1/4), (1/4, 1/2), (1/4, 1/4))", "add-remove", "pair"),
        ("fixed_size(gaussian(1), 1, 10)", "add-remove", "fixed_size"),
        ("poisson(gaussian(1), 1/2)", "replace", "poisson"),
        ("replace(poisson(gaussian(1), 1/2))", "add-remove", "replace"),
        ("group(gaussian(1), 3)", "add-remove", "group"),
        ("mix(1/2: gaussian(1), 1/2: gaussian(2))", "add-remove", "mix"),
        ("poisson(zcdp(1), 1/2)", "zero-out", "ZCDpEvent: on a sample"),
        ("discrete_laplace(1, 3)", "replace", "discrete_laplace"),
        ("pure_dp(1)", "add-remove", "EpsilonDeltaDpEvent: the installed release"),
        ("zcdp(1e400)", "add-remove", "beyond"),
    ],
)
def test_what_no_event_describes_is_refused(text, way, reason):
    with pytest.raises(UnsupportedMechanism, match=reason):
        to_dp_event(text, neighbours=way)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("gaussian(1.3)", "add-remove"),
        ("gaussian(1.3)", "replace"),
        ("gdp(sqrt(2))", "zero-out"),
        ("laplace(1.3, 7)^3 * gaussian(3, 1/7)", "add-remove"),
        ("discrete_laplace(3, 2)", "replace"),
        ("pure_dp(1)", "replace"),
        ("poisson(gaussian(1.3), 0.1)^10", "add-remove"),
        ("fixed_size(gaussian(1.3, 2), 3, 10)", "replace"),
        ("replace(poisson(gaussian(1.3), 0.1))^10", "replace"),
        ("gaussian_mixture(1.3, 0: 1/3, 1.1: 1/3, 2.1: 1/3)^3", "add-remove"),
        ("truncated_poisson(gaussian(1.3), 0.1, 50, 6)^3", "add-remove"),
    ],
)
def test_numbers_are_rounded_to_less_privacy_and_hardly(text, way):
    mechanism = dpexact.parse(text)
    again = from_dp_event(to_dp_event(mechanism, neighbours=way), neighbours=way)
    before, after = (dpexact.delta(m, "1/3", 12) for m in (mechanism, again))
    assert before.lower <= after.upper <= before.upper * (1 + Fraction(1, 10**10))
    finer = [dpexact.delta(m, "1/3", 30) for m in (mechanism, again)]
    assert finer[0].lower <= finer[1].upper
