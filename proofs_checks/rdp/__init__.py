"""Checks of claims on Rényi (Mironov 2017) and concentrated (Bun and Steinke 2016) privacy."""
