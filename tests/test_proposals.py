"""Floats and midpoints propose, balls decide: every place where one decides says why it may."""

from pathlib import Path
from textwrap import dedent

import pytest
from proposals import Place, places, sources_below

ROOT = Path(__file__).parents[1]
ENGINES = (
    "dpexact/accounting",
    "dpexact/tradeoffs",
    "dpexact/balls.py",
    "dpexact/certificate_checker.py",
    "dpexact/certificate_checker_mpfr",
    "dpexact/certificates",
)


@pytest.mark.slow
def test_every_place_says_why_no_result_depends_on_it() -> None:
    engines = sources_below(ROOT, ENGINES)
    every = sources_below(ROOT, ["dpexact"])
    found = places(engines, {path: every[path] for path in every.keys() - engines.keys()})
    silent = [str(place) for place in found if place.reason is None]
    assert not silent, "\n" + "\n".join(silent)
    assert len(found) > 200  # the walker sees


IMPORTS = "\nimport math; import numpy as np; from dpexact import balls\n"


def found_in(text: str, **others: str) -> list[Place]:
    """The places in a module of ``text``, to which imports are added, beside ``others``."""
    modules = {f"{name}.py": dedent(other) + IMPORTS for name, other in others.items()}
    modules["a.py"] = dedent(text) + IMPORTS
    return [p for p in places(modules) if p.path == "a.py"]


# --- what it must see -----------------------------------------------------------------------------


def test_an_order_by_rounded_midpoints() -> None:
    """Two losses that agree to 256 bits were put in the wrong order."""
    (place,) = found_in('''
        def _by_loss(atoms: list[Atom]) -> list[Atom]:
            """Falling loss; the order is only a proposal where losses almost agree."""
            with balls.precision(256):
                return sorted(
                    atoms,
                    key=lambda a: balls.midpoint(balls.ball(a.p) / balls.ball(a.q)),
                    reverse=True,
                )
    ''')
    assert (place.path, place.line, place.kind) == ("a.py", 5, "order")
    assert place.expression.startswith("sorted(atoms, key=lambda a: balls.midpoint(")
    assert place.reason is None
    assert str(place).startswith("a.py:5: order: sorted(")


def test_main_outcomes_chosen_by_floats() -> None:
    (place,) = found_in("""
        class Split:
            def __init__(self, atoms: list[Atom], count: int) -> None:
                pairs = [(balls.ball(a.p), balls.ball(a.q)) for a in atoms]
                main = sorted(range(len(atoms)), key=lambda i: float(sum(pairs[i]).mid()))
                self.main = [pairs[i] for i in sorted(main[-2:])]
    """)
    assert (place.line, place.kind) == (5, "order")


def test_first_and_last_index_from_a_midpoint() -> None:
    found = found_in("""
        def tail(crossing: arb, masses: list[arb]) -> arb:
            first = math.floor(float(crossing.mid())) + 1
            low, high = first, first + 1
            total = sum(masses[low:], arb(0))
            for m in range(low, high):
                total += masses[m]
            return total
    """)
    assert [(p.line, p.kind) for p in found] == [(5, "index"), (6, "loop")]


@pytest.mark.parametrize(
    "body",
    [
        "if float(x.mid()) > 0: return 1",
        "if x.mid() > 0: return 1",
        "if y > 0 and x > x.mid(): return 1",
        "while balls.approximate(y) < 1: pass",
        "assert balls.midpoint(x) == 0",
        "return 1 if float(x) else 2",
        "return not float(x)",
        "return float(x) or 1",
        "return [z for z in w if z < balls.approximate_log(y)]",
        "return [z for z in w if float(z)]",
        "return (x > 0) and (float(x) > 0)",
        "return w[round(float(x))]",
        "return w[: int(x.mid())]",
        "return max(w, key=balls.approximate)",
        "w.sort(key=lambda z: z.mid())",
        "for i in range(math.ceil(math.log2(n))): print(i)",
        "a = x.mid(); b = a; c = b + 1\n    if c > 0: return 1",
        "a, (b, c) = 1, (2, float(x))\n    if c > 0: return 1",
        "a = 0\n    a += float(x)\n    if a > 0: return 1",
        "a = []\n    a.append(float(x))\n    if a[0] > 0: return 1",
        "for a in [float(x)]:\n        if a > 0: return 1",
        "for i, a in enumerate(map(float, w)):\n        if a > i: return 1",
        "for i, a in zip(w, [x.mid()]):\n        if a > 0: return 1",
        "if (a := float(x)) > 0: return 1",
        "a = np.cumsum(w)\n    if a[0] > 0: return 1",
        "return w[np.argmax(w)]",
        "a: float = x\n    if a > 0: return 1",
        "match x.mid():\n        case 0: return 1",
        "match x:\n        case z if z > x.mid(): return 1",
        "if math.sqrt(n) > 2: return 1",
        "if arb(float(x)) > y: return 1",
        "if Fraction(float(x)) > y: return 1",
        "if balls.ball(float(x)) > y: return 1",
        "if x.mid().floor().fmpz() > 1: return 1",
        "def at(z: float) -> bool:\n        return z > 0\n    return at",
        "def at(z: arb) -> float:\n        return z\n    if at(x) > 0: return 1",
        "return min([1, 2], key=lambda z: z * x.mid())",
    ],
)
def test_a_proposal_that_decides(body: str) -> None:
    assert found_in(f"def f(x: arb, y: Real, n: int, w: list[arb]) -> object:\n    {body}\n")


@pytest.mark.parametrize("annotation", ["float", "float | None", "list[float]", "Floats"])
def test_what_is_annotated_as_floats(annotation: str) -> None:
    assert found_in(f"def f(x: {annotation}) -> bool:\n    return x > 0\n")
    assert found_in(f"def g() -> {annotation}: ...\n\ndef f() -> bool:\n    return g() > 0\n")
    text = f"""
        @dataclass
        class C:
            x: {annotation}

        def f(c: C) -> bool:
            return c.x > 0
    """
    assert found_in(text)


def test_attributes_that_the_class_assigns() -> None:
    assert found_in("""
        class C:
            def __init__(self, x: arb) -> None:
                self.near = x.mid()

            def f(self) -> bool:
                return self.near > 0
    """)
    assert found_in(
        "from b import D\n\ndef f(d: D) -> bool:\n    return d.near > 0\n",
        b="class D:\n    def __init__(self, x):\n        self.near = x.mid()\n",
    )


def test_exact_numbers_that_an_object_was_made_of() -> None:
    assert found_in("""
        @dataclass
        class Plan:
            count: int

        def plan(x: float) -> Plan:
            return Plan(math.ceil(x))

        def f(chosen: Plan) -> None:
            for i in range(chosen.count):
                print(i)
    """)


def test_whole_numbers_that_are_passed_on() -> None:
    other = """
        def terms(x: arb, count: int) -> arb:
            return sum(x for i in range(count))

        class Rule:
            def sum(self, x: arb, last: int) -> arb:
                return self.part(x, last=last + 1)

            def part(self, x: arb, last: int) -> arb:
                return x if last > 3 else -x
    """
    for call in (
        "terms(x, near)",
        "terms(x, count=near)",
        "b.terms(x, near)",
        "Rule().sum(x, near)",
    ):
        modules = {
            "pack/a.py": f"""
from pack import b
from pack.b import Rule, terms

def f(x: arb, n: int) -> arb:
    near = round(float(x))
    return {call}
""",
            "pack/b.py": dedent(other),
        }
        assert [place.path for place in places(modules)] == ["pack/b.py"]
        modules["pack/a.py"] = modules["pack/a.py"].replace("round(float(x))", "n")
        assert not places(modules)


def test_functions_that_return_proposals() -> None:
    other = """
        def near(x: arb) -> Fraction:
            return Fraction(float(x))

        def middle(x: arb) -> arb:
            return x.mid()

        def index(x: float) -> int:
            return round(x)
    """
    for name in ("near", "middle", "index"):
        text = f"from b import {name}\n\ndef f(x: arb) -> bool:\n    return {name}(x) > 0\n"
        assert found_in(text, b=other)


# --- what it must not take for a decision ---------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "return x > 0",
        "return f(x.mid()) > 0",  # certified at that point
        "return balls.certify(lambda: x.mid(), 3).upper > 0",
        "a = x.mid()\n    return isinstance(a, arb) and len([a]) > 0",
        "return y < float('inf')",
        "return x.mid() is None",
        "return math.floor(y) > 0",
        "return print(float(x))",
        "def at(z: arb) -> arb: ...\n    def g() -> bool:\n        return at(x.mid()) > 0",
    ],
)
def test_no_decision(body: str) -> None:
    text = f"from b import balls\n\ndef f(x: arb, y: Fraction = 1) -> arb:\n    {body}\n"
    assert not found_in(text, b="def certify(compute, digits) -> Enclosure: ...\n")


# --- reasons --------------------------------------------------------------------------------------


def reasons(text: str) -> list[str | None]:
    return [place.reason for place in found_in(text)]


def test_a_reason_stands_on_the_lines_or_directly_above() -> None:
    assert reasons("if x.mid() > 0:  # proposes: any side will do\n    pass\n") == [
        "any side will do"
    ]
    assert reasons("# proposes: any\n# side\nif x.mid() > 0:\n    pass\n") == ["any"]
    assert reasons("y = (\n    x.mid()  # proposes: any\n    > 0\n)\n") == ["any"]
    assert reasons("# proposes: any\ny = (\n    x.mid()\n    > 0\n)\n") == ["any"]


@pytest.mark.parametrize(
    "text",
    [
        "if x.mid() > 0:\n    pass\n",
        "if x.mid() > 0:  # proposes:\n    pass\n",
        "if x.mid() > 0:  # any side will do\n    pass\n",
        "# proposes: any\n\nif x.mid() > 0:\n    pass\n",
        "# proposes: any\ny = 1\nif x.mid() > 0:\n    pass\n",
        "if x.mid() > 0:\n    pass  # proposes: any\n",
    ],
)
def test_no_reason(text: str) -> None:
    assert reasons(text) == [None]


def test_a_reason_in_a_docstring_serves_what_is_inside() -> None:
    text = """
        {module}

        class C:
            {owner}

            def f(self, x: arb) -> None:
                {function}

                def g() -> None:
                    if x.mid() > 0:
                        print()
    """
    silent = {"module": '"""M."""', "owner": '"""C."""', "function": '"""F."""'}
    assert reasons(text.format(**silent)) == [None]
    for name in silent:
        marked = {**silent, name: '"""Proposes: points."""'}
        assert reasons(text.format(**marked)) == ["points."]
        marked = {**silent, name: '"""It proposes points."""'}
        assert reasons(text.format(**marked)) == [None]
