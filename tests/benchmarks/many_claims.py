"""Claims a CPU second, parents and judges together, and the largest memory of both.

Run ``python tests/benchmarks/many_claims.py [CLAIMS] [closed|mixed] [JOBS]`` (2,000, closed and 2
by default). ``closed``: mechanisms with closed forms, almost every one another. ``mixed``: golden
rows, as ``oracle_audit.py`` takes them, in one audit; any verdict that a row contradicts is raised.
"""

from __future__ import annotations

import random
import resource
import sys
import time

from oracle_audit import SEED, claims_of, megabytes

from dpexact.audits import Claim, audit
from dpexact.audits.runner import collect
from dpexact.oracle import table

#: Claims a CPU second that closed forms must reach.
WANTED = 300


def closed(number: int) -> list[Claim]:
    """Claims about mechanisms whose profile has a closed form."""
    chance = random.Random(SEED)

    def drawn(low: int, high: int, parts: int = 1) -> str:
        return f"{chance.randint(low, high)}/{parts}"

    forms = (
        lambda: f"pure_dp({drawn(1, 50, 100)})^{chance.randint(1, 200)}",
        lambda: f"gaussian({drawn(50, 500, 100)})^{chance.randint(1, 100)}",
        lambda: f"gdp({drawn(1, 300, 100)})",
        lambda: f"approx_dp({drawn(1, 50, 100)}, 1e-6)^{chance.randint(1, 200)}",
    )
    made = []
    for place in range(number):
        mechanism = forms[place % 4]()
        if place % 8 < 4:
            asked = {"claims": "delta", "epsilon": drawn(0, 300, 100), "delta": chance.random()}
        else:
            asked = {
                "claims": "epsilon",
                "delta": 10 ** -chance.uniform(3, 9),
                "epsilon": chance.uniform(0, 10),
            }
        made.append({"mechanism": mechanism, "kind": chance.choice(("upper", "lower")), **asked})
    return collect(made)


def mixed(number: int) -> tuple[list[Claim], list[str]]:
    """Claims about rows of the golden table, and their verdicts."""
    cases = [
        case
        for case in table()
        if case.quantity != "renyi" and 1e-290 < case.enclosure.lower < 1e300
    ]
    random.Random(SEED).shuffle(cases)
    claims, verdicts = zip(*claims_of(cases, number), strict=True)
    return list(claims), list(verdicts)


def spent() -> float:
    """Seconds of the processor, of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    kind = sys.argv[2] if len(sys.argv) > 2 else "closed"
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    claims, known = mixed(number) if kind == "mixed" else (closed(number), [])
    started, clock = spent(), time.perf_counter()
    report = audit(claims, jobs=jobs, timeout=120)
    seconds, wall = spent() - started, time.perf_counter() - clock
    for finding, verdict in zip(report.findings, known, strict=False):
        assert finding.verdict == verdict, (finding, verdict)
    own, children = megabytes()
    print(
        f"{number} claims, {kind}, {jobs} processes: {number / seconds:.0f} a CPU second "
        f"({seconds:.0f} CPU s, {wall:.0f} s), this process {own:.0f} MB, "
        f"largest judge {children:.0f} MB; {report.summary}"
    )
    if kind == "closed" and number / seconds < WANTED:
        raise SystemExit(f"fewer than {WANTED} a CPU second")


if __name__ == "__main__":
    main()
