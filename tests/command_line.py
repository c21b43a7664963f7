"""The command line, in this process."""

from typing import Any

from click.testing import CliRunner, Result

from dpexact.cli import main


def invoke(*words: object, **options: Any) -> Result:
    """What comes of ``words``, each as text."""
    return CliRunner().invoke(main, list(map(str, words)), **options)
