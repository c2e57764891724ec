"""Past the edge of stability: orbits, period doubling, chaos, balance (chen2025 chapter 3)."""
