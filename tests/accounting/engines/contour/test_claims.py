"""What certified answers are for: published numbers that are certainly wrong, and live audits."""

import json
from fractions import Fraction

import pytest
from command_line import invoke
from mpmath import mp, mpf
from sampled_gaussian import KNOWN

from dpexact.audits import Claim, judge

WORKLOAD = """
description: one run that every accountant knows, one where a finer grid once misled
cases:
  - mechanism:
      - poisson(gaussian(1.3), 256/60000)^3515
      - poisson(gaussian(2.5), 16384/1281167)^1000
    epsilon_at_delta: 1e-5
    direction: [remove, add]
  - mechanism: poisson(gaussian(1), 1/50)^300
    delta_at_epsilon: 1
    direction: both
"""


def test_the_finer_grid_trap_is_unsound():
    """A "pessimistic" estimate of dp-accounting 0.6.0 with discretisation 1e-5."""
    run = "poisson(gaussian(0.6), 1e-4)^100000"
    finding = judge(Claim(run, "epsilon", 1.953370556897609, "1e-8", "upper"))
    assert finding.verdict == "unsound"
    assert finding.enclosure.shown(12) == "1.95356343129..."
    assert judge(Claim(run, "epsilon", "1.9535634313", "1e-8", "upper")).verdict == "sound"
    assert judge(Claim(run, "epsilon", "1.9535634312", "1e-8", "lower")).verdict == "sound"


def test_the_central_limit_value_is_unsound_by_a_factor_of_107():
    """Gaussian DP's central limit theorem: ``mu = q sqrt(T (e^(1/sigma^2) - 1))``."""
    q, sigma, steps, epsilon = mpf(256) / 60000, mpf("0.7"), 10_546, mpf(7)
    with mp.workdps(30):
        mu = q * mp.sqrt(steps * mp.expm1(1 / sigma**2))
        limit = mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)
        assert mp.nstr(limit, 3) == "1.66e-9"
        claimed = mp.nstr(limit, 15)
    run = f"poisson(gaussian(0.7), 256/60000)^{steps}"
    finding = judge(Claim(run, "delta", claimed, 7, "upper", direction="remove"))
    assert finding.verdict == "unsound"
    factor = float(finding.enclosure.lower) / float(claimed)
    assert factor == pytest.approx(107, abs=0.5)
    assert finding.enclosure.overlaps(judge(Claim(run, "delta", claimed, 7, "lower")).enclosure)


@pytest.mark.parametrize(("run", "removed", "added"), KNOWN)
def test_known_values_are_told_from_their_neighbours(run, removed, added):
    """In the 20th digit, although only 15 are asked for at first."""
    sigma, q, steps, epsilon = run
    mechanism = f"poisson(gaussian({sigma}), {q})^{steps}"
    for direction, text in (("remove", removed), ("add", added)):
        true = Fraction(text)
        for factor, verdict in ((Fraction(1, 10**20), "sound"), (-Fraction(1, 10**20), "unsound")):
            claim = Claim(
                mechanism, "delta", true * (1 + factor), epsilon, "upper", direction=direction
            )
            finding = judge(claim)
            assert finding.verdict == verdict
            assert finding.digits == 30


@pytest.mark.slow
def test_live_audit(tmp_path):
    """Accountants that are installed are asked, and every one of their claims is decided."""
    pytest.importorskip("dp_accounting")
    workload, report = tmp_path / "few.yaml", tmp_path / "report.json"
    workload.write_text(WORKLOAD)
    arguments = ["audit", "--workload", str(workload), "--json", str(report), "--jobs", "1"]
    for name in ("dp-accounting-pld", "dp-accounting-rdp"):
        arguments += ["--accountant", name]
    result = invoke(*arguments)
    assert result.exit_code in (0, 1), result.output
    claims = json.loads(report.read_text())["claims"]
    verdicts = [claim["verdict"] for claim in claims]
    assert len(verdicts) >= 2 * 4
    assert set(verdicts) <= {"sound", "unsound", "accurate", "inaccurate"}
    assert verdicts.count("sound") >= len(verdicts) / 2
