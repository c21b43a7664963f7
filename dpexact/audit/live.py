"""Live audits: run installed accountants on workloads and collect what they claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpexact.audit import workloads
from dpexact.audit.accountants import Skipped, claims_of, load, questions_for
from dpexact.audit.claims import Claim


def ask(
    accountants: Sequence[str],
    workload_names: Sequence[str],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Claim], dict[str, list[Skipped]]]:
    """The claims of the named accountants on the named workloads, and what each was not asked.

    Args:
        accountants: names of registered accountants (see ``dpexact accountants``).
        workload_names: built-in workloads, or YAML files.
        progress: called as ``progress(done, total)`` after every answer.

    Raises:
        InvalidInput: an unknown name or an absent package; nobody has been asked then.
    """
    adapters = [load(name) for name in dict.fromkeys(accountants)]
    grids = [workloads.load(name) for name in dict.fromkeys(workload_names)]
    cases = list(dict.fromkeys(case for grid in grids for case in grid.cases))
    asked = [(adapter, *questions_for(adapter, cases)) for adapter in adapters]
    total = sum(len(questions) for _, questions, _ in asked)
    claims: list[Claim] = []
    done = 0
    for adapter, questions, _ in asked:
        for question in questions:
            claims.extend(claims_of(adapter, [question]))
            done += 1
            if progress:
                progress(done, total)
    return claims, {adapter.name: skipped for adapter, _, skipped in asked}
