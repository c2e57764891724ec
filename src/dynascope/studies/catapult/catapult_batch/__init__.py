"""Losses rise where the rate exceeds the critical one of the batch: of the batch, not of all."""
