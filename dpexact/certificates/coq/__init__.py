"""Answers as theorems of the proof assistant Coq, in files that ``coqc`` accepts alone.

The folder holds what the theorems stand on: the library about finite laws (``Finite.v``,
``Response.v``, ``Sampling.v``) and the Gaussian's closed form (``Gaussian.v``).
"""
