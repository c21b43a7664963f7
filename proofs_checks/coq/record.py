"""Which files coqc has accepted: hashes of file and libraries, and the seconds of the processor.

``python -m proofs_checks.coq.record [ID]...`` runs coqc on the claims and renews the record.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from dpexact.files import write_atomically
from proofs_checks.claims import claim
from proofs_checks.coq.compiling import Accepted, compiled, library_compiled
from proofs_checks.coq.export import coq_of, covered, libraries, stated, theorem_of

RECORD: Final = Path(__file__).parent / "record.json"


def accepted(identity: str) -> bool:
    """Whether coqc has accepted the Coq file of the claim as it stands, without admitted steps."""
    entry = _read().get(identity)
    return entry is not None and entry["hash"] == fingerprint(identity)


def formal(identity: str) -> bool:
    """Whether coqc has accepted the typed statement of the claim, which is all of the claim.

    Other theorems of a claim's file are written by hand beside the typed statement: they are no
    less checked, but nothing ties them to it.
    """
    return stated(identity) and not claim(identity).restricts and accepted(identity)


def fingerprint(identity: str) -> str | None:
    """A hash of the Coq file of a claim and of what it requires; None where it has none."""
    text = coq_of(identity)
    if text is None:
        return None
    required = " ".join(line for line in text.splitlines() if line.startswith("From DPExact"))
    used = [file for name, file in libraries().items() if re.search(rf"\b{name}\b", required)]
    whole = "\0".join([*used, text])
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


@cache
def _read() -> dict[str, dict[str, Any]]:
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))["claims"])


def renew(identities: list[str]) -> int:
    """Run coqc on the claims and record those that it accepts; the number of the others."""
    claims = {name: entry for name, entry in _read().items() if name in covered()}
    rejected = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spent = library_compiled(folder)
        for identity in identities:
            found = compiled(folder, theorem_of(identity), coq_of(identity) or "")
            if isinstance(found, Accepted):
                claims[identity] = {"hash": fingerprint(identity), "seconds": found.seconds}
            else:
                claims.pop(identity, None)
                rejected += 1
            print(identity, found)
    text = {
        "libraries": spent,
        "claims": {identity: claims[identity] for identity in covered() if identity in claims},
    }
    write_atomically(RECORD, json.dumps(text, indent=1) + "\n")
    _read.cache_clear()
    return rejected


if __name__ == "__main__":
    sys.exit(min(renew(sys.argv[1:] or covered()), 1))
