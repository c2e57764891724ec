"""A small model of generated English learns "the" after prepositions before it learns names."""
