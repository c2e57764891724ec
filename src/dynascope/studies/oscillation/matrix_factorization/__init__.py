"""Matrix factorisation past the edge: one direction oscillates, if the next one lets it."""
