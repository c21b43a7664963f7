"""Names of arrays, in which floats propose."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Complexes: TypeAlias = NDArray[np.complexfloating[Any]]
Flags: TypeAlias = NDArray[np.bool_]
