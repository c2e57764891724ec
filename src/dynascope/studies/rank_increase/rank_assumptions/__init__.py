"""The assumptions behind the staircase, put to the test by noise at plateaus and at escapes."""
