"""Scripts here import one another, as Python lets what it runs import its neighbours."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
