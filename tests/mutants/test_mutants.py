"""The list of mutants fits the sources, and a few of them are tried; ``run.py`` tries all."""

from __future__ import annotations

import random
import re
from functools import cache
from types import CodeType
from typing import Any

import pytest
from mutants.run import PROJECT, Mutant, mutants, trials
from oracles import SCALE

MUTANTS = mutants()
LEAST = 80
SAMPLE = 2


def by_name(mutant: Mutant) -> str:
    return f"{mutant.room}-{mutant.name}"


@cache
def functions_in(file: str) -> set[str]:
    return set(re.findall(r"^ *def (\w+)\(", source(file), re.M))


@cache
def source(file: str) -> str:
    return (PROJECT / file).read_text("utf-8")


def compiled(text: str) -> tuple[Any, ...]:
    """What a module does, wherever its lines stand; made a fifth as fast by ``ast``."""
    return _content(compile(text, "", "exec", dont_inherit=True))


def _content(code: CodeType) -> tuple[Any, ...]:
    constants = [_content(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    names = (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    return code.co_name, code.co_code, code.co_flags, names, constants


as_it_stands = cache(lambda file: compiled(source(file)))


def test_there_are_enough() -> None:
    assert len(MUTANTS) >= LEAST


def test_names_are_unique() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names)
    edits = [(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS]
    assert len(set(edits)) == len(edits)


@pytest.mark.parametrize("mutant", MUTANTS, ids=by_name)
def test_it_breaks_one_place_that_a_test_watches(mutant: Mutant) -> None:
    broken = mutant.applied(source(mutant.file))  # refuses all but one occurrence
    assert compiled(broken) != as_it_stands(mutant.file)
    file, _, test = mutant.test.partition("::")
    assert test.partition("[")[0] in functions_in(file)
    assert mutant.why


def test_what_is_compiled_is_what_is_done() -> None:
    assert compiled("# why\n\ndef f(x):\n    return (x + 1)\n") == compiled(
        "def f(x): return x + 1\n"
    )
    assert compiled("def f(x): return x + 1") != compiled("def f(x): return x + 1.0")


@pytest.mark.slow
def test_some_are_killed() -> None:
    """Of a larger volume, all."""
    count = SAMPLE if SCALE < 10 else len(MUTANTS)
    chosen = random.Random(1 if SCALE <= 1 else None).sample(MUTANTS, count)
    survivors = [trial for trial in trials(chosen, 1) if not trial.killed]
    assert not survivors
