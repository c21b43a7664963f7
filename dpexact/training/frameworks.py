"""What a DP-SGD framework runs, given the numbers that its user writes down.

Frameworks turn a dataset size, a batch size and epochs into a sampling rate and a count of steps,
each in its own way; the differences move epsilon in the third digit. Every rule here is that of the
framework's own code (``docs/training.md`` quotes it), floats included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from dpexact.arguments import MAX_COUNT, Direction, integer_in, real_in, word_in
from dpexact.conversion import RealLike
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism, allocation, gaussian, poisson, shuffled_batches
from dpexact.reals import Real, rational
from dpexact.tokens import shorten

Framework: TypeAlias = Literal["plain", "opacus", "tensorflow-privacy", "jax-privacy"]
Sampling: TypeAlias = Literal["poisson", "allocation", "ordered", "shuffled"]
"""``ordered``: every record is in exactly one batch of each epoch, in whatever order, and one that

is left out leaves the batches of the others as they are: a record costs one noisy sum an epoch.
``allocation``: it draws that batch at random in each epoch, independently of the others.
``shuffled``: the batches are cut from a random permutation in each epoch: a lower bound."""

FRAMEWORKS: Final[tuple[Framework, ...]] = get_args(Framework)
SAMPLINGS: Final[tuple[Sampling, ...]] = get_args(Sampling)
#: Ways of making batches that are not accounted for, each with what to do.
REFUSED_SAMPLINGS: Final = {
    "truncated": "batches that are cut at a largest size are not accounted for",
    "fixed-size": "write 'fixed_size(gaussian(S, 2), B, N)^T', which is about replaced records",
}

_ONE: Final = Fraction(1)
_CHANGED: Final[dict[Direction, str]] = {
    "both": "added or removed",
    "add": "added; of one that is removed this says nothing",
    "remove": "removed; of one that is added this says nothing",
}


@dataclass(frozen=True, slots=True)
class Run:
    """DP-SGD but for its noise: ``steps`` noisy sums, each of a sample of rate ``rate``.

    ``sensitivity`` is how far one record moves a sum, in units of the clipping norm; ``words`` say
    how the numbers came about. With ``bins`` each step is an epoch of so many sums, of which a
    record draws one; or is dealt one, by a permutation of all records, if they are ``shuffled``.
    """

    rate: Real
    steps: int
    sensitivity: int = 1
    words: tuple[str, ...] = ()
    bins: int = 1
    shuffled: bool = False

    def mechanism(self, sigma: RealLike) -> Mechanism:
        """The run with noise of ``sigma`` times the clipping norm.

        >>> print(training_run("opacus", dataset=60000, batch=256, epochs=60).mechanism("1.1"))
        poisson(gaussian(1.1), 1/235)^14100
        """
        step: Mechanism = gaussian(sigma, self.sensitivity)
        if self.rate != rational(1):
            step = poisson(step, self.rate)
        if self.bins > 1:
            step = (shuffled_batches if self.shuffled else allocation)(step, self.bins)
        return step**self.steps

    @property
    def template(self) -> str:
        """The run with a ``?`` in place of the noise."""
        return str(self.mechanism(1)).replace("gaussian(1", "gaussian(?", 1)


def training_run(
    framework: Framework = "plain",
    *,
    rate: RealLike | None = None,
    steps: RealLike | None = None,
    dataset: RealLike | None = None,
    batch: RealLike | None = None,
    epochs: RealLike | None = None,
    sampling: Sampling = "poisson",
    microbatches: bool = False,
) -> Run:
    """What ``framework`` runs, given ``rate`` and ``steps``, or ``dataset``, ``batch`` and

    one of ``epochs`` and ``steps``. ``microbatches`` says that gradients of several records are
    clipped together, so that one record moves a sum by twice the clipping norm.

    Raises:
        InvalidInput: too few or too many of these, or one out of its domain.

    >>> run = training_run("tensorflow-privacy", dataset=60000, batch=256, epochs=60)
    >>> run.rate, run.steps
    (Real('8/1875'), 14063)
    """
    word_in(framework, "framework", FRAMEWORKS)
    if sampling in REFUSED_SAMPLINGS:
        raise InvalidInput(f"sampling: {sampling!r}: {REFUSED_SAMPLINGS[sampling]}")
    word_in(sampling, "sampling", SAMPLINGS)
    if (rate is None) == (dataset is None):
        raise InvalidInput("rate: give rate and steps, or dataset, batch and epochs or steps")
    if rate is not None:
        if batch is not None or epochs is not None or steps is None:
            raise InvalidInput("rate: goes with steps, and without batch and epochs")
        run = Run(real_in(rate, "rate", "> 0", "<= 1"), integer_in(steps, "steps", 1, MAX_COUNT))
    else:
        if batch is None or (epochs is None) == (steps is None):
            raise InvalidInput("dataset: goes with batch, and with one of epochs and steps")
        n = integer_in(dataset if dataset is not None else 0, "dataset", 1)
        b = integer_in(batch, "batch", 1, n)
        run = _RULES[framework](n, b, None if epochs is None else _positive(epochs))
        if run.steps > MAX_COUNT and sampling == "poisson":
            raise InvalidInput(
                f"epochs: {shorten(str(epochs))} is not accepted; that is {run.steps} steps, and "
                f"at most {MAX_COUNT} are accounted for"
            )
        if steps is not None:
            run = Run(run.rate, integer_in(steps, "steps", 1, MAX_COUNT), 1, run.words[:1])
    if sampling != "poisson" and epochs is None:
        raise InvalidInput(f"sampling: {sampling} needs dataset, batch and epochs")
    if sampling == "ordered":
        passes = math.ceil(_positive(epochs))
        words = (
            f"Every record is in exactly one batch of each of {passes:,} epochs, in any order; one "
            "that is left out leaves the batches of all others as they are.",
        )
        run = Run(rational(1), passes, 1, words)
    if sampling == "allocation":
        passes, bins = integer_in(epochs, "epochs", 1, MAX_COUNT), _RULES[framework](n, b, _ONE)
        words = (
            f"In each of {passes:,} epochs every record draws one of {bins.steps:,} batches at "
            "random, independently of all others; one that is left out is in none.",
        )
        run = Run(rational(1), passes, 1, words, bins.steps)
    if sampling == "shuffled":
        if n % b:
            raise InvalidInput(
                f"batch: {b} does not divide dataset = {n}; shuffled batches are accounted for "
                "where all are full"
            )
        passes = integer_in(epochs, "epochs", 1, MAX_COUNT)
        said = (
            f"In each of {passes:,} epochs the records are permuted and cut into {n // b:,} "
            "batches; one that is left out adds nothing to its batch.",
            "No upper bound is known but that of --sampling ordered.",
        )
        run = Run(rational(1), passes, 1, said, n // b, shuffled=True)
    if microbatches:
        words = (
            "Several gradients are clipped together: one record moves a sum by twice the norm.",
        )
        run = replace(run, sensitivity=2, words=run.words + words)
    return run


def statement(run: Run, sigma: str, epsilon: str, delta: str, direction: Direction = "both") -> str:
    """The guarantee in plain words: what is promised, to whom, and what is assumed."""
    if run.rate == rational(1):
        sampled, assumed = f"Each record is in {run.steps:,} noisy sums of clipped gradients", []
        alone = ", and the batches of the others stay as they are"
    else:
        sampled = (
            f"Each record is in each of {run.steps:,} noisy sums of clipped gradients with "
            f"probability {run.rate}, independently of all others"
        )
        assumed, alone = ["batches are sampled so; shuffled batches are another mechanism"], ""
    assumed += [
        "the noise is drawn from true randomness, not from floats and a seed",
        "the size of the dataset, the batch size and the number of steps are public",
        "nothing else was learnt from the data, neither by choosing parameters nor from "
        "statistics used in preprocessing",
    ]
    return "\n".join(
        (
            f"The training is ({epsilon}, {delta})-differentially private if one record is "
            f"{_CHANGED[direction]}{alone}.",
            f"{sampled}; the noise is Gaussian, {sigma} times the clipping norm.",
            *run.words,
            "All intermediate models may be published, not only the last one.",
            "Epsilon is certified: it is rounded up from an interval that is proved to hold the "
            "smallest epsilon.",
            "Assumed: " + "; ".join(assumed) + ".",
        )
    )


# --- the rules ------------------------------------------------------------------------------------


def _plain(dataset: int, batch: int, epochs: Fraction | None) -> Run:
    rate = Fraction(batch, dataset)
    words = f"Each record is in a batch with probability {batch}/{dataset}."
    if epochs is None:
        return Run(rational(rate), 1, 1, (words,))
    exact = epochs / rate
    steps = math.ceil(exact)
    rounded = "" if exact == steps else f", rounded up from {rational(exact)}"
    return Run(
        rational(rate),
        steps,
        1,
        (words, f"{rational(epochs)} epochs are {steps:,} steps{rounded}."),
    )


def _opacus(dataset: int, batch: int, epochs: Fraction | None) -> Run:
    batches = -(-dataset // batch)
    made = int(1 / (1 / batches))  # in floats, as UniformWithReplacementSampler does
    said = f"Opacus: a loader of {batches} batches ({dataset}/{batch} rounded up)"
    words = [f"{said}, so each record is in a batch with probability 1/{batches}."]
    steps = 1
    if epochs is not None:
        count = integer_in(epochs, "epochs", 1, MAX_COUNT)
        steps = count * made
        words.append(f"{count:,} epochs of {made} batches are {steps:,} steps.")
        if made != batches:
            words.append(
                f"Its sampler makes {made} batches an epoch, as 1/(1/{batches}) is below {batches} "
                f"in floats; its accountant takes 1/{made} for the rate."
            )
    return Run(rational(Fraction(1, batches)), steps, 1, tuple(words))


def _tensorflow_privacy(dataset: int, batch: int, epochs: Fraction | None) -> Run:
    words = [
        f"TensorFlow Privacy: its statement assumes that each record is in a batch with "
        f"probability {batch}/{dataset}; its training shuffles (see --sampling ordered)."
    ]
    steps = 1
    if epochs is not None:
        steps = math.ceil(float(epochs) / (batch / dataset))  # in floats, as its statement does
        words.append(f"{rational(epochs)} epochs are counted as {steps:,} steps.")
    return Run(rational(Fraction(batch, dataset)), steps, 1, tuple(words))


def _jax_privacy(dataset: int, batch: int, epochs: Fraction | None) -> Run:
    words = [f"JAX Privacy: each record is in a batch with probability {batch}/{dataset}."]
    steps = 1
    if epochs is not None:
        count, each = integer_in(epochs, "epochs", 1, MAX_COUNT), dataset // batch
        steps = count * each
        words.append(f"{count:,} epochs of {dataset}//{batch} = {each} steps are {steps:,} steps.")
    return Run(rational(Fraction(batch, dataset)), steps, 1, tuple(words))


_RULES: Final[dict[str, Callable[[int, int, Fraction | None], Run]]] = {
    "plain": _plain,
    "opacus": _opacus,
    "tensorflow-privacy": _tensorflow_privacy,
    "jax-privacy": _jax_privacy,
}


def _positive(epochs: RealLike) -> Fraction:
    value = real_in(epochs, "epochs", "> 0", f"<= {MAX_COUNT}").fraction
    if value is None:
        raise InvalidInput(
            f"epochs: {shorten(str(epochs))} is not accepted; must be rational, as 60 or 5/2"
        )
    return value
