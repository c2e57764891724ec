"""Period 2: which minima are left for a stable oscillation, and how large it is."""
