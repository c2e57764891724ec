"""How linear wide networks are, and what that does to training (004 chapter 2)."""
