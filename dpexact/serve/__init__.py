"""A page on this machine: a configuration in, certified answers, pictures and verdicts out.

Modules, each importing only from those before it::

    forms < answering < plots < parts < working < workers < judged < application < running

What computes does so in a child process with limits (:mod:`dpexact.serve.working`), which ends when
the page that asked goes away. Only the last three need Starlette and uvicorn.
"""
