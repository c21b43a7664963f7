"""What became of asking the accountants, in lines for people."""

from __future__ import annotations

from collections import Counter

from dpexact.audits.runs import AccountantRun, Failure
from dpexact.visible import visible


def run_lines(run: AccountantRun) -> list[str]:
    """What became of asking one accountant: one line, and one for each reason of its failures."""
    if run.reason:
        return [visible(f"{run.name}: not asked: {run.reason}")]
    where = f" in {run.python}" if run.python else ""
    release = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    skips = Counter(skip.reason for skip in run.skipped)
    parts = [f"asked {run.asked} cases in {run.seconds:.1f} s"]
    parts += [f"skipped {count} ({reason})" for reason, count in skips.most_common(3)]
    if len(skips) > 3:
        parts.append(f"skipped more for {len(skips) - 3} other reasons")
    refused = sum(failure.refused for failure in run.failures)
    if refused:
        parts.append(f"refused {refused}")
    if failed := len(run.failures) - refused:
        parts.append(f"FAILED at {failed}")
    lines = [f"{run.name} ({release}{where}): {', '.join(parts)}"]
    reasons: dict[str, list[Failure]] = {}
    for failure in run.failures:
        reason = f"refused: {failure.reason}" if failure.refused else failure.reason
        reasons.setdefault(reason, []).append(failure)
    for reason, failures in reasons.items():
        more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
        lines.append(f"  {failures[0].case}{more}: {reason}")
    return [visible(line) for line in lines]
