"""The schemas of claims files and workload files: what readers read, and no other words."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from command_line import invoke

from dpexact.audits import read_claims
from dpexact.audits.records import KNOWN
from dpexact.audits.schemas import claims_schema, workload_schema
from dpexact.audits.workloads import load, names
from dpexact.errors import InvalidInput

DOCS = Path(__file__).parents[2] / "docs"
CLAIMS = jsonschema.Draft7Validator(claims_schema())
WORKLOADS = jsonschema.Draft7Validator(workload_schema())

UPPER = {
    "mechanism": "gaussian(1)",
    "claims": "epsilon",
    "epsilon": "4.5",
    "delta": 1e-05,
    "kind": "upper",
}
FULL = {
    **UPPER,
    "source": "mine",
    "direction": "add",
    "id": 7,
    "accountant": "mine 1.0",
    "expect": "sound",
    "contract": "within 1e-3",
    "contract_where": "mine 1.0",
    "contract_relation": "add",
    "contract_absolute": 0.001,
    "contract_relative": "1/1000",
    "contract_at": 0,
}
ESTIMATE = {
    "mechanism": "gaussian(1)",
    "claims": "delta",
    "delta": "inf",
    "epsilon": "log(3)",
    "kind": "estimate",
    "tolerance": "1/50",
    "expect": "inaccurate",
}
BETA = {"mechanism": "gdp(1)", "claims": "beta", "beta": 0.5, "alpha": 0.1, "kind": "lower"}
RENYI = {"mechanism": "gdp(1)", "claims": "renyi", "renyi": 1, "order": 2, "kind": "upper"}
EVERY = [UPPER, FULL, ESTIMATE, BETA, RENYI]
VALUES = [None, "", 0, -1, 3, 0.5, "1/2", True, "upper", "estimate", "beta", "both", "add", "sound"]
VALUES += ["accurate", "epsilon", [], ["1"], {}, "gdp(1)", "words", "inf", "nan"]


def changed():
    """Every claim with every key taken out, or given every value."""
    for claim in EVERY:
        yield claim
        for key in KNOWN:
            yield {name: value for name, value in claim.items() if name != key}
            for value in VALUES:
                yield {**claim, key: value}
        yield {**claim, "eps": 1}


def is_read(path, document):
    path.write_text(json.dumps(document))
    try:
        read_claims(path)
    except InvalidInput:
        return False
    return True


@pytest.mark.slow
def test_what_a_claims_file_may_hold_by_the_schema_and_by_the_reader(tmp_path):
    path = tmp_path / "claims.json"
    lenient = []
    for claim in changed():
        document = {"claims": [claim]}
        by_schema, by_reader = CLAIMS.is_valid(document), is_read(path, document)
        assert by_schema or not by_reader, claim  # what is read is never marked
        if by_schema and not by_reader:
            lenient.append(claim)
    # what a schema cannot know is whether a text is a mechanism or a number in its domain
    for claim in lenient:
        texts = [key for key in ("mechanism", *NUMERIC) if isinstance(claim.get(key), str)]
        numbers = [key for key in NUMERIC if isinstance(claim.get(key), int | float)]
        assert texts or any(claim[key] < 0 for key in numbers), claim


NUMERIC = ("epsilon", "delta", "beta", "alpha", "renyi", "order", "tolerance", "contract_absolute")
NUMERIC += ("contract_relative", "contract_at")


@pytest.mark.parametrize("document", [None, [], {}, {"claims": []}, {"claims": {}}, {"claims": 3}])
def test_a_file_without_a_list_of_claims(tmp_path, document):
    assert not CLAIMS.is_valid(document)
    assert not is_read(tmp_path / "claims.json", document)


@pytest.mark.parametrize(
    "change",
    [
        {"claims": "eps"},
        {"kind": "Upper"},
        {"direction": "remov"},
        {"expect": "accurate"},
        {"tolerance": 0.1},
        {"delta": 2},
        {"delta": None},
        {"alpha": 0.1},
        {"mechanism": 3},
        {"mechanims": "gdp(1)"},
        {"contract_at": 1},
        {"source": ["a"]},
    ],
)
def test_an_editor_marks_the_mistake(tmp_path, change):
    document = {"claims": [{**UPPER, **change}]}
    assert not CLAIMS.is_valid(document)
    assert not is_read(tmp_path / "claims.json", document)


GROUP = {"mechanism": ["gdp(1)"], "epsilon_at_delta": [1e-5, "1/7"], "direction": "add"}


@pytest.mark.parametrize(
    "document",
    [
        {"cases": [GROUP]},
        {"cases": GROUP, "description": ["one", "two"]},
        {"cases": [{"mechanism": "gdp(1)", "renyi_at_order": 2, "beta_at_alpha": 0.1}]},
    ],
)
def test_workloads_that_are_read(tmp_path, document):
    path = tmp_path / "workload.yaml"
    path.write_text(yaml.safe_dump(document))
    assert load(str(path)).cases
    assert WORKLOADS.is_valid(document)


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        {"cases": []},
        {"cases": None},
        {"cases": [GROUP], "descripton": "x"},
        {"cases": [GROUP], "description": []},
        {"cases": [{**GROUP, "mechanism": []}]},
        {"cases": [{**GROUP, "mechanism": None}]},
        {"cases": [{**GROUP, "mechanism": [["gdp(1)"]]}]},
        {"cases": [{**GROUP, "direction": "up"}]},
        {"cases": [{**GROUP, "epsilon_at_delta": [2]}]},
        {"cases": [{**GROUP, "epsilon_at_delta": []}]},
        {"cases": [{**GROUP, "delta_at_delta": 1}]},
        {"cases": [{"mechanism": "gdp(1)"}]},
        {"cases": [{"epsilon_at_delta": 0.1}]},
        {"cases": [{"mechanism": "gdp(1)", "renyi_at_order": 0.5}]},
    ],
)
def test_workloads_that_are_not(tmp_path, document):
    path = tmp_path / "workload.yaml"
    path.write_text(yaml.safe_dump(document))
    assert not WORKLOADS.is_valid(document)
    with pytest.raises(InvalidInput):
        load(str(path))


def test_the_files_of_the_package_and_of_the_documentation_are_valid():
    folder = Path(load.__code__.co_filename).parent
    for name in names():
        WORKLOADS.validate(yaml.safe_load((folder / f"{name}.yaml").read_text("utf-8")))
    WORKLOADS.validate(yaml.safe_load((DOCS / "examples/my_workload.yaml").read_text("utf-8")))
    for name in ("recorded_claims", "my_training", "mnist_estimates"):
        held = yaml.load((DOCS / f"examples/{name}.yaml").read_text("utf-8"), yaml.BaseLoader)
        CLAIMS.validate(held)


@pytest.mark.parametrize(
    ("name", "made"), [("claims", claims_schema), ("workload", workload_schema)]
)
def test_the_verb_and_the_documentation_have_the_schema(name, made):
    result = invoke("schema", name)
    assert result.exit_code == 0
    assert json.loads(result.output) == made()
    assert result.output == (DOCS / f"{name}.schema.json").read_text("utf-8")
    jsonschema.Draft7Validator.check_schema(made())


def test_the_verb_has_the_schema_of_reports_and_no_other():
    assert json.loads(invoke("schema", "report").output)["title"]
    assert invoke("schema", "certificates").exit_code == 2


def test_what_is_made_is_made_anew():
    first = claims_schema()
    before = copy.deepcopy(first)
    first["properties"].clear()
    assert claims_schema() == before


def test_examples_name_their_schema():
    for name, kind in (("my_training", "claims"), ("my_workload", "workload")):
        first = (DOCS / f"examples/{name}.yaml").read_text("utf-8").splitlines()[0]
        folder, _, target = first.partition("$schema=")
        assert folder == "# yaml-language-server: "
        assert (DOCS / "examples" / target).resolve() == DOCS / f"{kind}.schema.json"
