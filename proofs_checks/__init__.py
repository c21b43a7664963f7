"""Machine checks of the theorems that accounting rests on.

``catalogue/`` lists what the papers claim, one JSON file a source; ``kov/``, ``gdp/``, ``steinke/``
and ``slides/`` hold one function a claim; ``prover/`` holds the ways to prove, and its ``checker``,
which believes none of them; ``record/`` is what the last full run found. Imports go one way:
evidence, verdicts, prover, registry, checks, runner, reports, command.
"""
