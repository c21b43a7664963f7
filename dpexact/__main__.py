"""``python -m dpexact``."""

from dpexact.cli import main

main()
