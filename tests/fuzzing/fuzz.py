"""Fuzz the readers: ``python tests/fuzzing/fuzz.py --seconds 60 [--engine atheris] [TARGET ...]``.

The engine ``mutation`` needs nothing; ``atheris`` (from PyPI) follows the coverage. Either gives
each input five seconds and the process two gigabytes, stops at the first defect, prints the input,
and leaves with exit code 1.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

SECONDS_EACH = 5
BYTES = 2 << 30
LONGEST = 4096


class TooSlow(BaseException):
    """An input took more than its time."""


def mutated(random: random.Random, seeds: tuple[bytes, ...], words: tuple[bytes, ...]) -> bytes:
    """A seed after some random edits."""
    data = bytearray(random.choice(seeds))
    for _ in range(1 + int(random.expovariate(0.4))):
        start = random.randint(0, len(data))
        end = min(len(data), start + int(random.expovariate(0.15)))
        edit = random.randrange(7)
        if edit == 0:
            del data[start:end]
        elif edit == 1:
            data[start:end] = random.choice(words)
        elif edit == 2:
            data[start:start] = random.choice(words)
        elif edit == 3:  # nesting and long runs
            data[start:start] = random.choice(words) * random.choice((2, 20, 200))
        elif edit == 4:
            other = random.choice(seeds)
            there = random.randint(0, len(other))
            data[start:end] = other[there : there + random.randint(0, 40)]
        elif edit == 5:
            data[start:start] = data[start:end] * random.choice((1, 3, 50))
        elif data:
            data[min(start, len(data) - 1)] = random.randrange(256)
    return bytes(data[:LONGEST])


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def by_mutation(name: str, seconds: float, seed: int) -> int:
    """The number of executions; raises at a defect."""
    from fuzzing.seeds import SEEDS, WORDS
    from fuzzing.targets import attempt

    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    signal.signal(signal.SIGALRM, _alarm)
    source = random.Random(seed)
    end = time.monotonic() + seconds
    executions = accepted = 0
    slowest = 0.0
    while (begun := time.monotonic()) < end:
        data = mutated(source, SEEDS[name], WORDS)
        signal.setitimer(signal.ITIMER_REAL, SECONDS_EACH)
        try:
            accepted += attempt(name, data)
        except BaseException:
            signal.setitimer(signal.ITIMER_REAL, 0)
            traceback.print_exc()
            print(f"{name}: defect at {data!r}")
            raise SystemExit(1) from None
        signal.setitimer(signal.ITIMER_REAL, 0)
        executions += 1
        slowest = max(slowest, time.monotonic() - begun)
    print(
        f"{name}: {executions} executions, {accepted} accepted, slowest {slowest:.2f} s", flush=True
    )
    return executions


def by_atheris(name: str, seconds: float) -> None:
    """Never returns: libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["dpexact", "yaml", "json"]):
        from fuzzing.seeds import SEEDS, WORDS
        from fuzzing.targets import attempt

    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        for i, data in enumerate(SEEDS[name]):
            (corpus / f"{i}").write_bytes(data)
        words = Path(folder, "words")
        escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in WORDS)
        words.write_text("".join(f'"{word}"\n' for word in escaped))
        arguments = [
            sys.argv[0],
            f"-max_total_time={seconds:.0f}",
            f"-timeout={SECONDS_EACH}",
            f"-rss_limit_mb={BYTES >> 20}",
            f"-max_len={LONGEST}",
            f"-dict={words}",
            f"-artifact_prefix={tempfile.gettempdir()}/fuzz-{name}-",
            "-print_final_stats=1",
            "-verbosity=1",
            str(corpus),
        ]
        atheris.Setup(arguments, lambda data: attempt(name, data) and None)
        atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="*")
    parser.add_argument("--seconds", type=float, default=60, help="of each target")
    parser.add_argument("--engine", choices=["mutation", "atheris"], default="mutation")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.engine == "mutation":
        from fuzzing.targets import TARGETS

        for name in given.target or TARGETS:
            by_mutation(name, given.seconds, given.seed)
    elif len(given.target) == 1:
        by_atheris(given.target[0], given.seconds)
    else:  # libFuzzer takes the whole process
        from fuzzing.seeds import SEEDS

        for name in given.target or SEEDS:
            options = ["--engine", "atheris", "--seconds", str(given.seconds)]
            subprocess.run([sys.executable, __file__, *options, name], check=True)


if __name__ == "__main__":
    main()
