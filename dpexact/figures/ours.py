"""The figures of this project: pictures that need certified values."""
