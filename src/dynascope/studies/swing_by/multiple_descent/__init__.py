"""Multiple descent: with three or four concepts the test loss can fall three or four times."""
