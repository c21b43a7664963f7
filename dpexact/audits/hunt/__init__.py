"""The hunt: a search for questions that an accountant answers wrongly, with certified verdicts."""
