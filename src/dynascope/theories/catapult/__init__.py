"""The catapult: quadratic models at large learning rates."""
