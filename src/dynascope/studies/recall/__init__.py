"""Recall from the context against association with the last token."""
