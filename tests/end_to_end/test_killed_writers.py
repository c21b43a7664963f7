"""A writer that is killed leaves the old file or the new one, never a part."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from oracles import scaled

ROOT = Path(__file__).parents[2]

#: Writes two versions of every kind of file in turn, for ever; first says what they are.
WRITERS = """
import itertools, sys
from pathlib import Path
import dpexact
from dpexact.audits import Claim
from dpexact.audits.claims_file import write_claims
from dpexact.audits import reports as written
from dpexact.files import write_atomically
from dpexact.oracle import golden

folder = Path(sys.argv[1])
claims = [
    Claim("gdp(1)", "delta", value, "1", "upper", source=value * 50_000) for value in ("0.2", "0.3")
]
reports = [dpexact.audit([claim]) for claim in claims]
rows = golden.table()

def write(i, where):
    write_claims([claims[i]] * 3, where / "claims.csv")
    written.write(reports[i], "json", where / "report.json")
    written.write(reports[i], "html", where / "report.html")
    write_atomically(where / "table.csv.gz", golden.written(rows[: 100 + i]))
    write_atomically(where / "figure.svg", bytes([65 + i]) * 2_000_000)

for i in (0, 1):
    (folder / str(i)).mkdir(exist_ok=True)
    write(i, folder / str(i))
write(0, folder)
print("ready", flush=True)
for i in itertools.cycle((1, 0)):
    write(i, folder)
"""

#: What may open a file to write: the one writer, and appenders.
MAY_WRITE = {
    "dpexact/files.py",
    "dpexact/audits/reports/github_actions.py",
    "dpexact/audits/reports/json_report.py",  # grows with the audit; its last line says it ended
    "dpexact/audits/journal.py",
}
_WRITES = re.compile(r"""\.write_(?:text|bytes)\(|open\([^)]*["'][rwxa]?[wxa+]b?["']|\.savefig\(""")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_killed_at_any_moment(tmp_path: Path) -> None:
    source = random.Random(4)
    for _ in range(scaled(5)):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITERS, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        with child:
            assert child.stdout.readline() == "ready\n"
            time.sleep(source.uniform(0, 0.2))
            child.kill()
        names = [path.name for path in (tmp_path / "0").iterdir()]
        assert len(names) == 5
        for name in names:
            found = (tmp_path / name).read_bytes()
            assert found in [(tmp_path / i / name).read_bytes() for i in "01"], name


def test_nothing_else_writes_files() -> None:
    writers = {
        path.relative_to(ROOT).as_posix()
        for package in ("dpexact", "proofs_checks")
        for path in (ROOT / package).rglob("*.py")
        if _WRITES.search(path.read_text(encoding="utf-8"))
    }
    assert writers <= MAY_WRITE | {"dpexact/figures/drawing.py"}  # that one draws into memory
    assert "dpexact/files.py" in writers
