"""Tree counting: trees outgrow what precomputed features can tell apart."""
