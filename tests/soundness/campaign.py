"""Random questions against independent references: ``python tests/soundness/campaign.py``.

Every trial follows from the seed and its number: ``--seed S --trial N`` repeats one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from soundness import (  # noqa: F401  # families register themselves
    certifying,
    densities,
    extremes,
    finite,
    infinities,
    metamorphic,
    misspelt,
    one_sided,
    proportions,
    proving,
    relating,
    rewriting,
    seeking,
    sharing,
)
from soundness.asking import FAMILIES
from soundness.reference import NoReference
from soundness.starvation import prepare, starved
from soundness.trial import Failed, Refused, TimeUp, Trial, limited

import dpexact

OUTCOMES = ("ok", "wide", "refused", "skipped", "slow", "failed")


@dataclass
class Result:
    """What became of one trial."""

    number: int
    family: str
    outcome: str
    calls: list[str]
    message: str = ""
    cuts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    asked: float = 0.0

    def shown(self) -> str:
        lines = [f"{self.outcome.upper()} trial {self.number} ({self.family}): {self.message}"]
        lines += [f"    {call}" for call in self.calls]
        if self.cuts:
            lines.append(f"    starved of {', '.join(f'{k}={v}' for k, v in self.cuts.items())}")
        return "\n".join(lines)


def load() -> None:
    """Import all that a trial may need: an interrupted import leaves half a module."""
    for name in ("numpy", "sympy", "gmpy2"):
        with suppress(ImportError):
            importlib.import_module(name)
    rooms = ("dpexact.accounting", "dpexact.audits.verdicts", "dpexact.certificate")
    for module in pkgutil.walk_packages(dpexact.__path__, "dpexact."):
        if module.name.startswith(rooms) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def run(seed: int, number: int, names: Sequence[str], starve: bool, limit: float) -> Result:
    """Trial ``number`` of the campaign with ``seed``."""
    rng = random.Random(f"{seed}/{number}")
    drawn = rng.choices(names, [FAMILIES[n][1] for n in names])[0]
    name = names[number] if number < len(names) else drawn  # each once, before chance decides
    trial = Trial(starving=starve)
    result = Result(number, name, "ok", trial.calls)
    began = time.process_time()
    try:
        # cuts are undone outside of what may be interrupted
        cut = starved(f"{seed}/{number}") if starve else nullcontext({})
        with cut as result.cuts, limited(limit):
            FAMILIES[name][0](trial, rng)
        result.outcome = "skipped" if trial.skipped else "wide" if trial.wide else "ok"
    except Failed as error:
        result.outcome, result.message = "failed", str(error)
    except Refused as error:
        result.outcome, result.message = "refused", str(error)
    except NoReference as error:
        result.outcome, result.message = "skipped", str(error)
    except TimeUp:
        result.outcome = "slow" if trial.late else "skipped"
        result.message = f"more than {limit} s"
    except Exception:  # a defect of the campaign itself
        result.outcome, result.message = "failed", traceback.format_exc()
    result.seconds, result.asked = time.process_time() - began, trial.asked
    return result


def campaign(
    seed: int,
    *,
    seconds: float | None = None,
    trials: int | None = None,
    names: Sequence[str] = tuple(FAMILIES),
    starve: bool = False,
    limit: float = 0.3,
) -> Iterator[Result]:
    """Trials in turn, until the seconds of the processor or their number are spent."""
    load()
    if starve:
        prepare()
    began = time.process_time()
    number = 0
    while (trials is None or number < trials) and (
        seconds is None or time.process_time() - began < seconds
    ):
        yield run(seed, number, names, starve, limit)
        number += 1


def table(results: Sequence[Result]) -> str:
    """Trials by family and outcome."""
    counts = Counter((r.family, r.outcome) for r in results)
    heads = ["trials", *OUTCOMES, "s", "s asked"]
    lines = [f"{'family':<24}" + "".join(f"{head:>9}" for head in heads)]
    for name in [*sorted({r.family for r in results}), "all"]:
        row = [
            sum(n for (f, o), n in counts.items() if (name in (f, "all")) and o == outcome)
            for outcome in OUTCOMES
        ]
        chosen = [r for r in results if name in (r.family, "all")]
        spent = (sum(r.seconds for r in chosen), sum(r.asked for r in chosen))
        cells = [f"{n:>9}" for n in (len(chosen), *row)] + [f"{s:>9.1f}" for s in spent]
        lines.append(f"{name:<24}" + "".join(cells))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="of the processor")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trial", type=int, help="run this one alone")
    parser.add_argument("--family", action="append", choices=sorted(FAMILIES))
    parser.add_argument("--starve", action="store_true", help="cut budgets and precisions")
    parser.add_argument(
        "--limit", type=float, default=0.3, help="seconds of the processor for one trial"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--show", default="failed,slow", help="outcomes that are printed")
    options = parser.parse_args()
    names = options.family or tuple(FAMILIES)
    if options.trial is not None:
        stream: Iterator[Result] = iter(
            [run(options.seed, options.trial, names, options.starve, options.limit)]
        )
    else:
        seconds = 60.0 if options.seconds is None and options.trials is None else options.seconds
        stream = campaign(
            options.seed,
            seconds=seconds,
            trials=options.trials,
            names=names,
            starve=options.starve,
            limit=options.limit,
        )
    results = []
    with suppress(KeyboardInterrupt):  # the table is that of the trials so far
        for result in stream:
            results.append(result)
            if result.outcome in options.show.split(",") or options.trial is not None:
                print(result.shown(), flush=True)
    print(table(results))
    failures = [r for r in results if r.outcome == "failed"]
    if options.json is not None:
        summary: dict[str, Any] = {
            "seed": options.seed,
            "starved": options.starve,
            "trials": len(results),
            "outcomes": dict(Counter(r.outcome for r in results)),
            "failures": [vars(r) for r in failures],
        }
        options.json.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
