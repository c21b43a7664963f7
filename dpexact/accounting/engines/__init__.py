"""Engines: one module or package a method; they take pairs and compositions, and know no mechanism.

``accounting/routes`` says which of them is asked for what.
"""
