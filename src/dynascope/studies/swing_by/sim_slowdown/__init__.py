"""Study `sim-slowdown`: one layer approaches its target exponentially, concept by concept."""
