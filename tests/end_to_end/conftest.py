"""The sample project is a project of its own: it runs in its own pytest, started by a test."""

collect_ignore = ["sample_project"]
