"""Claims are written as they are, exactly, and read back the same."""

from pathlib import Path

import pytest

from dpexact.audits import read_claims
from dpexact.audits.bench import bench
from dpexact.audits.claims import Claim
from dpexact.audits.claims_file import write_claims
from dpexact.errors import InvalidInput

CLAIMS = [
    Claim("gaussian(1)", "epsilon", 0.1, 1e-300, "upper", source='a: "#\n é <b>', id="- x: y"),
    Claim("pure_dp(log(3))^2", "delta", "1/3", "sqrt(2)", "lower", direction="add"),
    Claim("gdp(1)", "epsilon", "inf", 0, "estimate", tolerance="1/7", expect="accurate"),
    Claim("gaussian(1)", "epsilon", "4.4", "1e-5", "upper", "a, \"b\": #c\n'd'", "x: 1"),
    Claim("gdp(1)", "epsilon", float("inf"), 0, "upper", id="é ε", accountant="z 1.0"),
]


@pytest.mark.parametrize("suffix", ["yaml", "json", "csv"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"claims.{suffix}"
    for claims in (CLAIMS, bench()):
        write_claims(claims, path)
        assert read_claims(path) == claims


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    with pytest.raises(InvalidInput, match="none to write"):
        write_claims([], path)
    with pytest.raises(InvalidInput, match="claim mine: NaN cannot be written"):
        write_claims([Claim("gdp(1)", "epsilon", "nan", 0, "upper", id="mine")], path)
    assert not path.exists()
