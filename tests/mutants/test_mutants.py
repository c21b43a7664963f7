"""The list of mutants fits the sources, and a few of them are tried; ``run.py`` tries all."""

from __future__ import annotations

import ast
import random
from functools import cache

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
    tree = ast.parse((PROJECT / file).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_there_are_enough() -> None:
    assert len(MUTANTS) >= LEAST


def test_names_are_unique() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names)
    edits = [(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS]
    assert len(set(edits)) == len(edits)


@pytest.mark.parametrize("mutant", MUTANTS, ids=by_name)
def test_it_breaks_one_place_that_a_test_watches(mutant: Mutant) -> None:
    source = (PROJECT / mutant.file).read_text("utf-8")
    broken = mutant.applied(source)  # refuses all but one occurrence
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))
    file, _, test = mutant.test.partition("::")
    assert test.partition("[")[0] in functions_in(file)
    assert mutant.why


def test_some_are_killed() -> None:
    """Of a larger volume, all."""
    count = SAMPLE if SCALE < 10 else len(MUTANTS)
    chosen = random.Random(1 if SCALE <= 1 else None).sample(MUTANTS, count)
    survivors = [trial for trial in trials(chosen, 1) if not trial.killed]
    assert not survivors
