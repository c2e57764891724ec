"""Past the critical learning rate: the catapult and its quadratic models (zhu2024 chapter 3)."""
