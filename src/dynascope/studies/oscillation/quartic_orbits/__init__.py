"""The quartic (x^2 - 1)^2 / 4 past the edge of stability: period 2, 4, 8, ..., chaos, escape."""
