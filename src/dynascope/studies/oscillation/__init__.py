"""Past the edge of stability: orbits, period doubling, chaos, balance (002 chapter 3)."""
