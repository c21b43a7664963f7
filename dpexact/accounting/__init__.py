"""From a mechanism to certified numbers: profiles, divergences, trade-off functions, bounds."""
