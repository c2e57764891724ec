"""dynascope: a laboratory for how neural networks learn."""

__version__ = "0.1.0"
