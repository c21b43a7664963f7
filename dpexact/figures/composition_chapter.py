"""The figures of Steinke, Composition of Differential Privacy."""
