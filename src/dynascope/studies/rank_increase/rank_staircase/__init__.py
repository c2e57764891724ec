"""The staircase: plateaus and escape times of Algorithm 1 against the flow at six scales."""
