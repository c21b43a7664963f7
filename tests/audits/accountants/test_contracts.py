"""Each adapter's contract, in the words of the installed package."""

from importlib import metadata
from pathlib import Path

import pytest

from dpexact.audits import Contract
from dpexact.audits.accountants import find, names
from dpexact.audits.accountants.asking import kinds_of, questions_for
from dpexact.audits.workloads import load
from dpexact.audits.workloads import names as workload_names


def squeezed(text):
    """``text`` in one line: without the marks and ends of strings, comments and lines."""
    for mark in ("\\\\", '"\n', "#"):
        text = text.replace(mark, "\\" if mark == "\\\\" else " ")
    return " ".join(text.replace('"', "").split())


def texts(distribution):
    """Everything that the distribution says: its modules and its description."""
    found = metadata.distribution(distribution)
    for file in found.files or ():
        if file.suffix in (".py", "") and "tests" not in file.parts:
            path = Path(str(found.locate_file(file)))
            if path.suffix == ".py" or path.name == "METADATA":
                yield squeezed(path.read_text(errors="replace"))


def questions(accountant):
    cases = [case for name in workload_names() for case in load(name).cases]
    return questions_for(accountant, cases)[0]


@pytest.mark.parametrize("name", names())
def test_the_sentence_stands_in_the_package(name):
    accountant = find(name).accountant
    distribution = accountant.distributions[0]
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed")
    stated = {}
    for question in questions(accountant):
        for kind in kinds_of(accountant, question):
            contract = accountant.contract(question.query, kind)
            Contract(**contract)
            stated[contract["sentence"]] = contract["where"]
    assert stated
    said = list(texts(distribution))
    for sentence, where in stated.items():
        assert where.startswith(f"{distribution} {version}, "), where
        for part in sentence.split(" ... "):
            assert any(squeezed(part) in text for text in said), part


def test_the_words_are_looked_for():
    assert not any("a sentence that no package says" in text for text in texts("dp-accounting"))
