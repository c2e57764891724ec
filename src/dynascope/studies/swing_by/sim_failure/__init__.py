"""Study `sim-failure`: a weak concept that seems to be lost for ever, and when it really is."""
