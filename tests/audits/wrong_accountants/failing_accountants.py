"""Adapters that fail, each in its own way, at every question but those at 1/2; there they say 1.5.

Loaded by path, in a process of their own.
"""

import ctypes
import os
import subprocess
import sys
import time


class Failing:
    """An adapter of an installed distribution, whose way to fail is a function of the query."""

    distributions = ("click",)
    module = "click"
    install = "click"
    kinds = ("upper",)

    def __init__(self, way, **changed):
        self.name = f"zz-{way.__name__.replace('_', '-')}"
        self._way = way
        self.__dict__.update(changed)

    def supports(self, query):
        return True

    def call(self, query):
        return f"ask({query['at']})"

    def answer(self, query):
        value = 1.5 if query["at"] == 0.5 else self._way(query)
        return [{"kind": "upper", "value": value}]


def raises(query):
    raise OverflowError("math range\nerror")


def leaves(query):
    sys.exit(4)


def interrupts(query):
    raise KeyboardInterrupt


def exits(query):
    os._exit(7)


def segfaults(query):
    ctypes.string_at(0)


def hangs(query):
    time.sleep(600)


def hangs_below(query):
    """A child of the child, which keeps all that it inherits."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(os.environ["DPEXACT_TEST_PID"], "w") as file:
        file.write(str(child.pid))
    child.wait()


def eats(query):
    return float(len(bytearray(1 << 30)))


def nan(query):
    return float("nan")


def none(query):
    return None


def text(query):
    return "0.5"


def truth(query):
    return True


def complex_number(query):
    return 1j


def prints(query):
    """Not a failure: what is printed is no answer, and there is nothing to read."""
    print('{"answers": [{"kind": "upper", "value": 9.0}]}', flush=True)
    os.write(1, b'{"answers": [{"kind": "upper", "value": 9.0}]}\n')
    subprocess.run([sys.executable, "-c", "print('{}')"], check=True)
    return 2.5 if sys.stdin.read() == "" else 9.0


def sees(query):
    """How many of the paths for this interpreter reach another one."""
    return float(sum(name in os.environ for name in ("PYTHONPATH", "PYTHONHOME")))


class Silent(Failing):
    def answer(self, query):
        return []


class Lower(Failing):
    def answer(self, query):
        return [{"kind": "lower", "value": 1.0}]


class Stuttering(Failing):
    def answer(self, query):
        return [{"kind": "upper", "value": 1.0}] * 2


class Unasked(Failing):
    def supports(self, query):
        raise ZeroDivisionError("division by zero")


class Speechless(Failing):
    def call(self, query):
        raise ZeroDivisionError("division by zero")


RAISES, LEAVES, INTERRUPTS = Failing(raises), Failing(leaves), Failing(interrupts)
EXITS, SEGFAULTS = Failing(exits), Failing(segfaults)
HANGS, HANGS_BELOW, EATS = Failing(hangs), Failing(hangs_below), Failing(eats)
NAN, NONE, TEXT = Failing(nan), Failing(none), Failing(text)
TRUTH, COMPLEX = Failing(truth), Failing(complex_number)
PRINTS, SEES = Failing(prints), Failing(sees, distributions=(), module="json")
SILENT, LOWER, STUTTERING = Silent(nan), Lower(nan), Stuttering(nan)
UNASKED, SPEECHLESS = Unasked(nan), Speechless(raises)
ABSENT = Failing(nan, distributions=("no-such-dist",))
BROKEN = Failing(nan, module="zz_broken_package")
CRASHING = Failing(nan, module="zz_crashing_package")
SLOW = Failing(nan, module="zz_slow_package")
