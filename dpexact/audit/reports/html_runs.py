"""The part of the HTML report on what became of asking the accountants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpexact.audit.reports.html_parts import inert
from dpexact.audit.reports.wording import run_sentence
from dpexact.audit.runs import AccountantRun


def runs_section(runs: Sequence[AccountantRun]) -> str:
    """A section with one article an accountant; nothing where none was asked."""
    if not runs:
        return ""
    articles = "\n".join(map(_article, runs))
    return f'<section id="runs">\n<h2>Accountants asked</h2>\n{articles}\n</section>'


def _article(run: AccountantRun) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    where = [versions, f"run by {run.python}" if run.python else "", f"{run.seconds:.3g} s"]
    tone = "bad" if run.reason or run.failures else "good"
    sign = "✗" if tone == "bad" else "✓"
    return (
        f'<article class="run {tone}"><h3 class="wrap"><span aria-hidden="true">{sign}</span> '
        f'{inert(run.name)}</h3><p class="wrap">{inert(run_sentence(run))}</p>'
        f'<p class="soft wrap">{inert("; ".join(filter(None, where)))}</p>'
        f"{_failures(run)}{_skipped(run)}</article>"
    )


def _failures(run: AccountantRun) -> str:
    items = (
        f"<li><code>{inert(failure.case)}</code>: {inert(failure.reason)}"
        f'<code class="command">{inert(failure.call)}</code></li>'
        for failure in run.failures
    )
    return _folded(f"Failures ({len(run.failures)})", items, bool(run.failures), True)


def _skipped(run: AccountantRun) -> str:
    by_reason: dict[str, list[str]] = {}
    for skip in run.skipped:
        by_reason.setdefault(skip.reason, []).append(skip.case)
    items = (
        f"<li>{inert(reason)}: {', '.join(f'<code>{inert(case)}</code>' for case in cases)}</li>"
        for reason, cases in by_reason.items()
    )
    return _folded(f"Not asked ({len(run.skipped)})", items, bool(run.skipped), False)


def _folded(title: str, items: Iterable[str], any_item: bool, unfolded: bool) -> str:
    if not any_item:
        return ""
    opened = " open" if unfolded else ""
    listed = f'<ul class="wrap">{"".join(items)}</ul>'
    return f"<details{opened}><summary>{title}</summary>{listed}</details>"
