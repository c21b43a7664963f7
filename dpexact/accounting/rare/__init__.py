"""Certified delta and epsilon of a Gaussian run many times on rare samples.

Losses are sorted by smooth windows into small, middle and large ones, so that the inversion sees
those of one scale only. Inside, each module imports only from those before it::

    windows < law < tables < picture < rules < planning < inversion, estimate, starts, added
    < profile
"""
