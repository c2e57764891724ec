"""Papers 000 and 001: concept learning and the swing-by of the structured identity mapping."""
