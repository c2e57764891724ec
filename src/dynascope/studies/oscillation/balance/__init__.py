"""Balance: past the edge of stability two factors of (x y - mu)^2 / 2 become equal."""
