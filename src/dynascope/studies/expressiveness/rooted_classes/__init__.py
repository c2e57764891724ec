"""Rooted classes: how many nodes and graphs are told apart, counted exactly."""
