"""Claims made from the golden table, audited again: rate, and memory as the claims grow.

Run ``python tests/benchmarks/oracle_audit.py [CLAIMS] [JOBS]`` (10,000 and 2 by default). A claim
is the truth rounded to a float, moved up or down by a part in ``10^12 ... 10``; its verdict is
known from the row, and any other verdict stops the run.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from fractions import Fraction
from itertools import cycle

from dpexact.audits import Claim, audit
from dpexact.comparison import verdict
from dpexact.oracle import Case, table

BATCHES = 10
SEED = 7


def claims_of(cases: list[Case], number: int) -> list[tuple[Claim, str]]:
    """``number`` claims, each with the verdict that the golden row gives."""
    chance = random.Random(SEED)
    found: list[tuple[Claim, str]] = []
    for case in cycle(cases):
        if len(found) == number:
            break
        moved = chance.choice((-1, 0, 1)) * 10.0 ** chance.uniform(-12, -1)
        claimed = Fraction(float(case.enclosure.upper) * (1 + moved))
        kind = chance.choice(("upper", "lower"))
        known = verdict(kind, claimed, claimed, case.enclosure)
        if known == "undecided":  # a float that is the truth, or is next to it
            continue
        claim = Claim(
            case.mechanism, case.quantity, claimed, case.argument, kind, direction=case.direction
        )
        found.append((claim, known))
    return found


def megabytes() -> tuple[float, float]:
    """The largest memory so far of this process, and of its largest finished child."""
    own, children = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own, children


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    # delta and epsilon are what claims are about; rows that floats can express without loss
    cases = [
        case
        for case in table()
        if case.quantity != "renyi" and 1e-290 < case.enclosure.lower < 1e300
    ]
    random.Random(SEED).shuffle(cases)
    claims = claims_of(cases, number)
    started = time.perf_counter()
    size = -(-number // BATCHES)
    for first in range(0, number, size):
        batch = claims[first : first + size]
        clock = time.perf_counter()
        report = audit([claim for claim, _ in batch], jobs=jobs)
        seconds = time.perf_counter() - clock
        for finding, (claim, known) in zip(report.findings, batch, strict=True):
            assert finding.verdict == known, (claim, finding.verdict, known, finding.note)
        own, children = megabytes()
        print(
            f"{first + len(batch):6} claims: {len(batch) / seconds:6.1f} a second, "
            f"this process {own:.0f} MB, largest worker {children:.0f} MB",
            flush=True,
        )
    rate = number / (time.perf_counter() - started)
    print(f"{number} claims, {jobs} processes: {rate:.1f} a second, every verdict as the row says")


if __name__ == "__main__":
    main()
