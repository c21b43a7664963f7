"""Trade-off functions at given levels: from a privacy profile, or from the tests of a law."""
