"""Products u v that learn from a small start, one after the other: their flow, its drawing."""
