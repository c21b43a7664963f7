"""Very many different sampled Gaussians: a cloud of noises and rates as boxes with few nodes."""
