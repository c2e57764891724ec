"""Study `linearity-width`: wide networks are nearly linear in their parameters, or are not."""
