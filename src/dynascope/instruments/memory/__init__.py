"""An associative memory that learns noisy labels: theory, descent, and how they are drawn."""
