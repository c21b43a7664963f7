"""Mechanisms added from outside: what the how-to page does, and every question asked of them."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest
from mpmath import mp, mpf, quad

import dpexact
from dpexact import balls, certificate_checker
from dpexact.accounting import laws
from dpexact.accounting.engines.closed_form import SinglePair
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.mixture import one_shift
from dpexact.accounting.profile import InfiniteLoss
from dpexact.certificates import certificate
from dpexact.conversion import real
from dpexact.mechanisms import Mechanism, gaussian, grammar
from dpexact.mechanisms.base import POSITIVE, PROBABILITY
from dpexact.reals import Real, rational

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PAGE = ROOT / "docs" / "how-to" / "mechanism.md"


@pytest.fixture
def added(monkeypatch):
    """Both mechanisms are known in this test, and nowhere after it."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    tables = (grammar.NAMES, laws.PAIRS)
    before = [dict(table) for table in tables]
    for name in ("uniform_noise", "logistic_noise"):
        sys.modules.pop(name, None)
        importlib.import_module(name)
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


def overlap(found, *truths):
    assert all(found.lower <= truth.upper and truth.lower <= found.upper for truth in truths)


def near(found, truth):
    low, high = found.to_mpmath(30)
    assert low * (1 - mpf(10) ** -14) <= truth <= high * (1 + mpf(10) ** -14)


@pytest.mark.slow
def test_the_page_prints_what_it_says():
    text = PAGE.read_text()
    shown = re.findall(r"^\$ (python -c .*)\n(.*)$", text, re.MULTILINE)
    assert len(shown) == 3
    for command, expected in shown:
        arguments = [sys.executable, *shlex.split(command)[1:]]
        done = subprocess.run(arguments, cwd=EXAMPLES, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


def test_the_examples_are_short():
    for name, most in (("uniform_noise", 40), ("logistic_noise", 120)):
        assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= most


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("uniform(10)", "approx_dp(0, 1/20)"),
        ("uniform(10, 3)^2 * gaussian(2)", "approx_dp(0, 3/20)^2 * gaussian(2)"),
        ("poisson(uniform(10), 1/3)^2", "poisson(approx_dp(0, 1/20), 1/3)^2"),
        ("uniform(1/4)", "approx_dp(0, 1)"),
    ],
)
@pytest.mark.usefixtures("added")
def test_uniform_noise_is_its_pair(text, known):
    for way in ("remove", "add"):
        assert dpexact.delta(text, "1/10", 6, way) == dpexact.delta(known, "1/10", 6, way)
        assert dpexact.epsilon(text, "1/2", 6, way) == dpexact.epsilon(known, "1/2", 6, way)
        assert dpexact.renyi(text, 2, 6, way) == dpexact.renyi(known, 2, 6, way)
    assert dpexact.parse(str(dpexact.parse(text))) == dpexact.parse(text)


@pytest.mark.usefixtures("added")
def test_every_question_about_uniform_noise():
    assert dpexact.tradeoff("uniform(10)")("1/10").lower == Fraction(17, 20)
    found = dpexact.calibrate("uniform(?)^10", 0, "1/100")
    assert dpexact.delta(f"uniform({found.upper})^10", 0).upper <= Fraction(1, 100)
    assert dpexact.bounds("uniform(1000)^10", "1/10").exact.upper == 0
    rest = "gaussian(1)^50 * laplace(2)^9"
    noisy = dpexact.approximation_error(f"uniform(1000)^2 * {rest}", "clt", 1, digits=6)
    known = dpexact.approximation_error(f"approx_dp(0, 1/2000)^2 * {rest}", "clt", 1, digits=6)
    assert noisy.true == known.true
    assert noisy.claimed == known.claimed
    mechanism, at = dpexact.parse("uniform(10)^2"), real("1/2")
    document = certificate(mechanism, "delta", at, "both", dpexact.delta(mechanism, at))
    certificate_checker.check(document)


@pytest.mark.slow
def test_an_installed_mechanism_is_found(tmp_path, monkeypatch):
    installed = tmp_path / "uniform_noise-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: uniform-noise\nVersion: 1\n")
    named = "[dpexact.mechanisms]\nuniform = uniform_noise:Uniform\n"
    (installed / "entry_points.txt").write_text(named)
    shutil.copy(EXAMPLES / "uniform_noise.py", tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(ROOT))))
    claims = tmp_path / "claims.yaml"
    row = "mechanism: uniform(10)^2, claims: delta, epsilon: 0, kind: upper, source: here"
    claims.write_text(f"claims:\n- {{{row}, delta: 0.0975}}\n- {{{row}, delta: 0.09}}\n")
    arguments = [sys.executable, "-m", "dpexact", "audit", str(claims), "--jobs", "1"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "1 gross" in done.stdout


def logistic(x):
    return 1 / (4 * mp.cosh(x / 2) ** 2)


@pytest.mark.parametrize("rate", ["1/2", "3"])
@pytest.mark.usefixtures("added")
def test_one_run_of_logistic_noise_by_quadrature(rate):
    with mp.workdps(30):
        r, level = mpf(eval(rate)), mpf(1) / 4
        cut = mp.findroot(lambda x: mp.log(logistic(x - r) / logistic(x)) - level, r / 2)
        gain = quad(
            lambda x: logistic(x - r) - mp.exp(level) * logistic(x), [cut, cut + 5, cut + 40, 90]
        )
        text = f"logistic(1, {rate})"
        near(dpexact.delta(text, "1/4"), gain)
        moment = quad(lambda x: logistic(x - r) ** 3 / logistic(x) ** 2, [-90, -5, 0, r, r + 5, 90])
        near(dpexact.renyi(text, 3), mp.log(moment) / 2)
        mean = quad(
            lambda x: logistic(x - r) * mp.log(logistic(x - r) / logistic(x)), [-90, 0, r, 90]
        )
        near(dpexact.renyi(text, 1), mean)
    overlap(dpexact.epsilon(text, 0), dpexact.renyi(text, "inf"))


@pytest.mark.parametrize(
    "text",
    ["logistic(2)^20", "logistic(1) * gaussian(3)", "logistic(3)^5 * pure_dp(1/10)"],
)
@pytest.mark.usefixtures("added")
@pytest.mark.slow
def test_both_engines_take_logistic_noise(text):
    answers = [dpexact.delta(text, "1/2", 6, method=way) for way in ("auto", "contour", "lattice")]
    overlap(answers[0], *answers[1:])
    assert answers[0].digits >= 6


@pytest.mark.usefixtures("added")
def test_samples_of_logistic_noise():
    with mp.workdps(30):
        q, r = mpf(1) / 10, mpf(1) / 2
        moment = quad(
            lambda x: ((1 - q) * logistic(x) + q * logistic(x - r)) ** 3 / logistic(x) ** 2,
            [-90, -5, 0, 5, 90],
        )
        near(dpexact.renyi("poisson(logistic(2), 1/10)", 3), mp.log(moment) / 2)
    once = dpexact.delta("poisson(logistic(2), 1/10)", "1/50", 8, "remove")
    overlap(
        once, dpexact.delta("poisson(logistic(2), 1/10)", "1/50", 4, "remove", method="lattice")
    )
    assert dpexact.calibrate("logistic(?)^10", 1, "1e-6").digits >= 6


@dataclass(frozen=True, slots=True, repr=False)
class OnSample(Mechanism):
    """A Gaussian on a Poisson sample, by the pair of its outputs: not symmetric."""

    name: ClassVar[str] = "on_sample"
    sigma: Real = field(metadata=POSITIVE)
    q: Real = field(metadata=PROBABILITY)


@pytest.mark.parametrize("way", ["remove", "add", "both"])
def test_a_pair_that_is_not_symmetric_is_turned(monkeypatch, way):
    monkeypatch.setitem(laws.PAIRS, OnSample, lambda m: one_shift(m.sigma, m.q, rational(0)))
    outside, inside = OnSample(rational(1), rational(1) / 10), dpexact.poisson(gaussian(1), "1/10")
    for count in (2, 5):
        overlap(
            *(dpexact.delta(m**count, "1/10", 10, way) for m in (outside, inside)),
        )
        overlap(*(dpexact.epsilon(m**count, "1e-3", 8, way) for m in (outside, inside)))
    different = [dpexact.delta(outside**2, "1/10", 10, w) for w in ("remove", "add")]
    assert not different[0].overlaps(different[1])


@pytest.mark.parametrize("cut", [1e-3, 1e-9])
def test_outcomes_that_a_pair_does_not_list_count(cut, monkeypatch):
    pair, listed = DiscreteGaussian(real("4"), 1), DiscreteGaussian.atoms
    truth = dpexact.delta("discrete_gaussian(2)", "1/3")
    monkeypatch.setattr(DiscreteGaussian, "atoms", lambda self, tail: listed(self, cut))
    with balls.precision(128):
        found = balls.to_enclosure(
            SinglePair(pair, InfiniteLoss(), InfiniteLoss()).delta_ball(balls.ball(real("1/3")))
        )
    overlap(found, truth)
    assert found.lower <= truth.lower
    assert truth.upper <= found.upper
    assert found.upper - found.lower < 2 * Fraction(cut)
