"""How linear wide networks are, and what that does to training (zhu2024 chapter 2)."""
