"""What frameworks run: each rule against the code of the package itself, where it is installed."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import math
import sys
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

import pytest

import dpexact
from dpexact.errors import InvalidInput
from dpexact.training.frameworks import Run, statement, training_run
from dpexact.training.logs import printed_promises, read_log

SIZES = [(60000, 256), (60000, 250), (1000, 17), (93, 1), (50000, 512), (7, 7), (2100, 10)]


def file_of(package: str, path: str) -> Path:
    try:
        return Path(str(metadata.distribution(package).locate_file(path)))
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")


def loaded(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hollow(monkeypatch: pytest.MonkeyPatch, *names: str, **attributes: object) -> None:
    for name in names:
        module = ModuleType(name)
        module.__dict__.update(attributes)
        monkeypatch.setitem(sys.modules, name, module)


T = TypeVar("T")


class Sampler(Generic[T]):
    """In place of torch's, which does nothing here either."""


# --- Opacus ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dataset", "batch"), SIZES)
def test_opacus_makes_so_many_batches(monkeypatch, dataset, batch):
    path = file_of("opacus", "opacus/utils/uniform_sampler.py")
    hollow(monkeypatch, "torch", "torch.utils", "torch.utils.data", Sampler=Sampler, Generator=None)
    module = loaded("uniform_sampler", path)
    batches = math.ceil(dataset / batch)  # len() of a DataLoader that drops nothing
    made = module.UniformWithReplacementSampler(num_samples=dataset, sample_rate=1 / batches)
    run = training_run("opacus", dataset=dataset, batch=batch, epochs=3)
    assert run.steps == 3 * len(made)
    assert float(run.rate.fraction) == made.sample_rate


@pytest.mark.parametrize("file", ["data_loader.py", "privacy_engine.py"])
def test_opacus_takes_its_rate_from_the_length_of_the_loader(file):
    tree = ast.parse(file_of("opacus", f"opacus/{file}").read_text())
    assert "1 / len(data_loader)" in {ast.unparse(node) for node in ast.walk(tree)}


def test_batches_lost_to_floats_are_told():
    run = training_run("opacus", dataset=93, batch=1, epochs=1)
    assert run.steps == 92
    assert "1/92 for the rate" in run.words[-1]


# --- TensorFlow Privacy ---------------------------------------------------------------------------


@pytest.mark.parametrize("microbatches", [False, True])
@pytest.mark.parametrize("sampling", ["poisson", "ordered"])
@pytest.mark.parametrize(("dataset", "batch"), SIZES)
def test_the_statement_of_tensorflow_privacy_accounts_for_this(
    dataset, batch, sampling, microbatches
):
    path = "tensorflow_privacy/privacy/analysis/compute_dp_sgd_privacy_lib.py"
    library = loaded("compute_dp_sgd_privacy_lib", file_of("tensorflow-privacy", path))
    seen = []

    class Listening:
        def get_accountant(self):
            return self

        def compose(self, event):
            seen.append(event)
            return self

        def get_epsilon(self, delta):
            return delta

    probability = batch / dataset if sampling == "poisson" else None
    library._compute_dp_sgd_example_privacy(2.5, 1.5, 1e-5, microbatches, probability, Listening())
    run = training_run(
        "tensorflow-privacy",
        dataset=dataset,
        batch=batch,
        epochs="2.5",
        sampling=sampling,
        microbatches=microbatches,
    )
    [event] = seen
    assert run.steps == event.count
    step = event.event
    if probability is not None:
        assert float(run.rate.fraction) == step.sampling_probability
        step = step.event
    assert step.noise_multiplier == 1.5 / run.sensitivity


@pytest.mark.parametrize(("microbatches", "users"), [(False, None), (True, None), (False, 4)])
def test_the_printed_statement_is_a_log(tmp_path, microbatches, users):
    path = "tensorflow_privacy/privacy/analysis/compute_dp_sgd_privacy_lib.py"
    library = loaded("compute_dp_sgd_privacy_lib", file_of("tensorflow-privacy", path))
    text = library.compute_dp_sgd_privacy_statement(1000, 50, 2.5, 1.5, 1e-5, microbatches, users)
    file = tmp_path / "statement.txt"
    file.write_text(text)
    runs = {
        sampling: training_run(
            "tensorflow-privacy",
            dataset=1000,
            batch=50,
            epochs="2.5",
            sampling=sampling,
            microbatches=microbatches,
        ).mechanism("1.5")
        for sampling in ("ordered", "poisson")
    }
    assert read_log(file) == runs["poisson"]
    promised = printed_promises(text)
    assert {promise.sampling: promise.mechanism for promise in promised} == runs
    for promise in promised:
        assert promise.delta == "1e-05"
        truth = dpexact.epsilon(promise.mechanism, promise.delta, digits=6)
        assert truth < Fraction(promise.epsilon) < truth.upper * 2


# --- JAX Privacy ----------------------------------------------------------------------------------


def test_jax_privacy_accounts_for_this(monkeypatch):
    path = file_of("jax-privacy", "jax_privacy/accounting/analysis.py")
    hollow(monkeypatch, "chex", Numeric=float)
    hollow(monkeypatch, "optax", "jax_privacy", "jax_privacy.accounting")
    accountants = loaded("jax_privacy.accounting.accountants", path.with_name("accountants.py"))
    monkeypatch.setattr(
        sys.modules["jax_privacy.accounting"], "accountants", accountants, raising=False
    )
    analysis = loaded("analysis", path)
    seen = []

    class Listening:
        def create_accountant(self):
            return self

        def compose(self, event, count):
            seen.append((event, count))

        def get_epsilon(self, target_delta):
            return target_delta

    for dataset, batch in SIZES:
        run = training_run("jax-privacy", dataset=dataset, batch=batch, epochs=3)
        assert run.steps == 3 * (dataset // batch)
        parameters = analysis.DpParams(
            noise_multipliers=1.1, num_samples=dataset, delta=1e-5, batch_size=batch
        )
        seen.clear()
        analysis.DpsgdTrainingAccountant(Listening()).compute_epsilon(run.steps, parameters)
        [(event, count)] = seen
        assert count == run.steps
        assert event.sampling_probability == float(run.rate.fraction)
        assert event.event.noise_multiplier == 1.1


def test_jax_privacy_says_how_epochs_become_steps():
    said = file_of("jax-privacy", "jax_privacy/keras_api.py").read_text()
    assert "epochs * (train_size // batch_size)" in " ".join(said.split())


# --- what is ours ---------------------------------------------------------------------------------


def test_epochs_that_make_no_whole_number_of_steps_are_rounded_up():
    run = training_run(dataset=60000, batch=256, epochs=60)
    assert run.steps == 14063
    assert "rounded up from 14062.5" in run.words[-1]
    assert "rounded" not in training_run(dataset=100, batch=10, epochs=2).words[-1]


def test_the_template_and_the_mechanism_are_one():
    for run in (
        training_run(rate="1/100", steps=7),
        training_run(dataset=50, batch=5, epochs=2, microbatches=True),
        training_run(dataset=50, batch=5, epochs=2, sampling="ordered"),
        training_run(rate=1, steps=1),
    ):
        assert dpexact.parse(run.template.replace("?", "1.3")) == run.mechanism("1.3")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "rate"),
        ({"rate": "1/2"}, "steps"),
        ({"rate": "1/2", "steps": 3, "epochs": 1}, "epochs"),
        ({"rate": "1/2", "steps": 3, "dataset": 1}, "rate"),
        ({"rate": 2, "steps": 3}, "rate: 2"),
        ({"rate": 0, "steps": 3}, "rate: 0"),
        ({"dataset": 10, "epochs": 1}, "batch"),
        ({"dataset": 10, "batch": 11, "epochs": 1}, "batch: 11"),
        ({"dataset": 10, "batch": 1}, "epochs and steps"),
        ({"dataset": 10, "batch": 1, "epochs": 0}, "epochs: 0"),
        (
            {"dataset": 10, "batch": 1, "epochs": "sqrt(2)"},
            r"epochs: sqrt\(2\) .* must be rational",
        ),
        (
            {"dataset": 10, "batch": 1, "epochs": "1e18"},
            "epochs: 1e18 .* is 1" + "0" * 19 + " steps",
        ),
        ({"dataset": 10, "batch": 1, "epochs": "1e30"}, "epochs: 1e30 .* <= 1"),
        ({"dataset": 10, "batch": 1, "epochs": "1.5", "framework": "opacus"}, "epochs: 1.5"),
        ({"dataset": 10, "batch": 1, "steps": 5, "sampling": "ordered"}, "ordered"),
        ({"rate": "1/2", "steps": 3, "framework": "torch"}, "framework: 'torch'"),
        ({"rate": "1/2", "steps": 3, "sampling": "shuffle"}, "sampling: 'shuffle'"),
        ({"rate": "1/2", "steps": 3, "sampling": "shuffled"}, "shuffled needs dataset"),
        ({"rate": "1/2", "steps": 3, "sampling": "allocation"}, "allocation needs dataset"),
        ({"dataset": 9, "batch": 3, "epochs": "3/2", "sampling": "allocation"}, "epochs: 1.5"),
        ({"rate": "1/2", "steps": 3, "sampling": "fixed-size"}, r"write 'fixed_size\(gaussian"),
    ],
)
def test_what_is_no_run_is_refused(given, named):
    with pytest.raises(InvalidInput, match=named):
        training_run(**given)


def test_the_statement_says_what_is_promised_and_assumed():
    run = training_run("opacus", dataset=60000, batch=256, epochs=60)
    said = statement(run, "1.1", "2.379", "1e-5")
    for words in ("(2.379, 1e-5)", "added or removed", "1/235", "14,100", "1.1 times", "Assumed:"):
        assert words in said
    plain = statement(Run(dpexact.reals.rational(1), 3), "1", "2", "3")
    assert "shuffled" not in plain
    assert "the batches of the others stay as they are" in plain


@pytest.mark.parametrize(
    ("framework", "bins"),
    [("plain", 4), ("opacus", 4), ("tensorflow-privacy", 4), ("jax-privacy", 3)],
)
def test_a_random_batch_in_each_epoch(framework, bins):
    run = training_run(framework, dataset=100, batch=30, epochs=7, sampling="allocation")
    assert str(run.mechanism("1.5")) == f"allocation(gaussian(1.5), {bins})^7"
    assert run.template == f"allocation(gaussian(?), {bins})^7"
    assert f"one of {bins} batches" in run.words[0]
    one = training_run(dataset=30, batch=30, epochs=7, sampling="allocation")
    assert str(one.mechanism("1.5")) == "gaussian(1.5)^7"
