"""Of a fixed number of parameters, those in MLPs learn the bigrams."""
