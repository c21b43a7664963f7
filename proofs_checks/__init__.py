"""Machine checks of the theorems that accounting rests on.

``catalogue/`` lists what the papers claim, one JSON file a source, and ``statements/`` is the
language in which it says so; ``kov/``, ``gdp/``, ``steinke/`` and one package more for every other
source hold one function a claim; ``prover/`` holds the ways to prove, and its ``checker``,
which believes none of them; ``record/`` is what the last full run found. Imports go one way:
statements, evidence, prover, verdicts, registry, checks, runner, reports, command.
"""
