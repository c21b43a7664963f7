"""Certified delta and epsilon of Gaussians run many times on rare samples.

Losses are sorted by smooth windows into small, middle and large ones, so that the inversion sees
those of one scale only. Inside, each module imports only from those before it::

    rows, windows < likelihood, heights, float_rows < law < picture < rules < lines < edges
    edges < planning < inversion, estimate, added < many < searching < profile < asked
"""
