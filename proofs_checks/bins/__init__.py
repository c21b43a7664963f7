"""Checks of claims on balls in bins and random allocation (2024, 2025)."""
