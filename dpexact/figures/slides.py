"""The figures of the talk A Statistical Viewpoint on Differential Privacy."""
