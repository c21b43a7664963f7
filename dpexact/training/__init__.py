"""From training runs to mechanisms: what frameworks run, and the histories that they keep."""
