"""Past the critical learning rate: the catapult and its quadratic models (004 chapter 3)."""
