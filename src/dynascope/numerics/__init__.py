"""Only what the dependencies lack; each piece has a dense twin in the tests."""
