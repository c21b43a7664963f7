"""Valid inputs to start from, and the words that the readers treat."""

from __future__ import annotations

import gzip
import struct
from typing import Final

_CLAIM: Final = (
    '"id": "a", "mechanism": "gaussian(1.3)^10", "claims": "epsilon", "epsilon": "4.8", '
    '"delta": 1e-6, "kind": "estimate", "tolerance": "1e-3", "direction": "remove", '
    '"source": "s", "accountant": "x 1", "expect": "accurate"'
)
_ROW: Final = (
    "suites,mechanism,quantity,argument,direction,lower,upper,method,family,parameters\n"
    "basics dpsgd,gaussian(1)^2,epsilon,1e-5,both,1.0,1.1,contour,gaussian,sigma=1.0 steps=2\n"
)
_JOURNAL_CLAIM: Final = (
    '{"mechanism": "gaussian(1)", "quantity": "epsilon", "claimed": "3", "at": "0.00001", '
    '"kind": "upper", "source": "", "id": "", "tolerance": null, "direction": "both", '
    '"accountant": "", "expect": null, "contract": null}'
)
_JOURNAL: Final = (
    '{"format": "dpexact journal 2", "digits": 15}\n'
    f'{{"claim": {_JOURNAL_CLAIM}, "verdict": "sound", "enclosure": ["1/1", "a/9", "m"], '
    '"relative_error": ["-1/2", "inf", ""], "digits": 15, "seconds": 0.5, "note": "", '
    '"grade": "none"}\n'
    f'{{"question": "q", "claims": [{_JOURNAL_CLAIM}], "failure": null, "seconds": 0.5}}\n'
)
_TABLE: Final = _ROW.encode()
_NESTED: Final = '["poisson", ["poisson", ["gaussian", "13/10", "1"], "1/2"], ["exp", "-3"]]'
_DISCRETE: Final = (
    '["compose", ["staircase", "1", "1/3", "1"], ["discrete_laplace", ["sqrt", "2"], "3"], '
    '["approx_dp", ["log", "2"], "1/1000"]]'
)
_AVERAGED: Final = (
    '["compose", ["mix", ["1/3", ["zcdp", "1/9", "1/2"]], ["2/3", ["partition_selection", "1", '
    '"1/99"]]], ["truncated_poisson", ["gdp", "1"], "1/10", "30", "9"], ["group", ["pure_dp", '
    '"1"], "3"], ["renyi_dp", ["2", "1/9"], ["9", "2"]], ["threshold", ["laplace", "1", "1"], "4"]]'
)
_STATEMENT: Final = (
    f'{{"mechanism": ["repeat", {_NESTED}, "30"], "direction": "add", "method": "finite sum", '
    '"text": "poisson(poisson(gaussian(13/10, 1), 1/2), exp(-3))^30", "quantity": "delta", '
    '"at": ["log", "3/2"], "lower": "1/10", "upper": "1/5", "digits": "1", "bits": "64"}'
)
_CERTIFICATE: Final = (
    f'{{"format": "dpexact certificate", "version": "1", "statements": [{_STATEMENT}], '
    '"uncertified": [{"id": "b", "reason": "c"}], "digest": "", "findings": [{"id": "a", '
    '"kind": "upper", "claimed": "1/20", "tolerance": "0", "verdict": "unsound", '
    f'"statement": {_STATEMENT}}}]}}'
)


def _array(kind: str, shape: str, content: bytes) -> bytes:
    """An array as numpy saves it."""
    head = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + content


SEEDS: Final[dict[str, tuple[bytes, ...]]] = {
    "real": (
        b"1.3",
        b"256/60000",
        b"-1e-5",
        b"log(3/2)*3+exp(-1)^2",
        b"sqrt(2)/(pi - e)",
        b"(1+1/3)**12",
    ),
    "mechanism": (
        b"poisson(gaussian(1.3), 256/60000)^3515",
        b"group(poisson(gaussian(3), 1/1000)^100, 10000)",
        b"approx_dp(1/10, delta=1/1000)^30 * pure_dp(log(2))",
        b"gdp(1) * (laplace(2)*discrete_laplace(3))^2",
        b"staircase(1, gamma=1/2) * zcdp(rho=0.5)",
        b"group(zcdp(1/4, 0.5), 3) * zcdp(1, rho=2)",
        b"renyi_dp((2, 0.1), (4, 1/4))^3 * renyi_dp((3/2, 1))",
        b"repeat_and_select(gaussian(5)^2, 10, shape=1/2) * replace(gaussian(2))",
        b"truncated_laplace(1, bound=3)^2 * threshold(gaussian(2), least=9)",
        b"truncated_discrete_gaussian(2, 9, 3) * partition_selection(1, 1e-5)^4",
        b"fixed_size(discrete_gaussian(sigma=2, sensitivity=3), 5, 100)",
        b"group(poisson(gaussian(1), 1/100)^10, k=3) * group(laplace(2)^4, 3)",
        b"gaussian_mixture(2, 0: 1/2, 1: 1/2)^9",
        b"replace(poisson(gaussian(1), 1/100)) * shuffle(pure_dp(1), n=100)",
        b"mix(1/3: truncated_poisson(gaussian(1), 1/10, 100, batch=12), 2/3: gdp(1)^2)",
        b"allocation(gaussian(1)^2, t=9, k=2)^3 * pair((1/2, 1/3), (1/2, 2/3))",
        b"permute_and_flip(1/2)^9 * report_noisy_max(eps=2)",
        b"adaptive(bounded_range(1/2)^4 * randomized_response(log(3), k=4))",
    ),
    "template": (
        b"poisson(gaussian(?), 1/100)^1000",
        b"gaussian(2)^?",
        b"laplace(scale=?)^10 * pure_dp(1)",
        b"fixed_size(gaussian(1), ?, 10)",
        b"gaussian_mixture(2, 0: 1/2, ?: 1/2)^3",
        b"mix(?: gaussian(1), 1/2: gdp(1))",
        b"allocation(gaussian(1), t=?, k=2)",
    ),
    "claims_yaml": (
        f"claims:\n- {{{_CLAIM}}}\n".encode(),
        b"# c\nclaims:\n  - mechanism: pure_dp(0.1)^100\n    claims: delta\n    delta: 1e-3\n"
        b"    epsilon: 1\n    kind: upper\n    source: >\n      x\n",
    ),
    "claims_json": (f'{{"claims": [{{{_CLAIM}}}]}}'.encode(),),
    "claims_csv": (
        b'mechanism,claims,epsilon,delta,kind,source\n"poisson(gaussian(1), 1/10)",epsilon,3,'
        b'1e-5,upper,"a ""b"""\n',
    ),
    "journal": (_JOURNAL.encode(),),
    "certificate": (
        _CERTIFICATE.encode(),
        _CERTIFICATE.replace(_NESTED, _DISCRETE).encode(),
        _CERTIFICATE.replace(_NESTED, _AVERAGED).encode(),
    ),
    "matrix": (
        _array("'<f4'", "(2,)", struct.pack("<2f", 1, 0.5)),
        _array("'<f8'", "(2, 2)", struct.pack("<4d", 1, 0, 0.5, 1e300)),
        _array("'<i8'", "(1,)", struct.pack("<q", 3)),
    ),
    "golden_table": (_TABLE,),
    "golden_file": (gzip.compress(_TABLE, 6, mtime=0), gzip.compress(b"", mtime=0)),
}
SEEDS["claims_unnamed"] = SEEDS["claims_yaml"] + SEEDS["claims_json"] + SEEDS["claims_csv"]

#: Words that the readers treat, and what has broken readers elsewhere.
WORDS: Final[tuple[bytes, ...]] = (
    *(b"( ) [ ] { } , : ; ^ ** * / + - = ? ! & % | > < # @ ` ' \" \\ . _ ~ ---".split()),
    *(b"\n|\r\n|\t| |  |\x00|\x1b|\xef\xbb\xbf|\xff|\xed\xa0\x80|\x0b|\x0c".split(b"|")),
    *(b"log( exp( sqrt( pi e inf nan NaN -Infinity null true 0 1 -1 1/0 0/0 0.1 .5 1. 1e".split()),
    *(b"10^10^10 exp(exp(exp(9))) 1e999999999 1e-999999999 1e400 9e99999 0x10 1_000 1e+".split()),
    *(b"gaussian( poisson( fixed_size( gdp(0) pure_dp( zcdp( laplace( sensitivity= delta=".split()),
    *(b"claims mechanism epsilon delta kind upper lower estimate tolerance direction id".split()),
    *(b"source expect sound accountant question failure claim verdict enclosure format".split()),
    *(b"&a *a !!int !!python/object:os << ? %YAML --- ... \\ud800 \\u0000 \\UFFFFFFFF".split()),
    *(text.encode() for text in ("٣", "१२", "²", "½", "Ⅷ", "é", "\u2028", "\x85", "\u202e", "😀")),
)
