"""Separation: no training point lies near the test point, and cutting out the few is no matter."""
