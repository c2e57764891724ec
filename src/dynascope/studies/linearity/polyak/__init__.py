"""Study `polyak`: the PL* condition holds at the start, and wide networks keep it."""
