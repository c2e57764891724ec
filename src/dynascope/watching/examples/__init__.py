"""Three training loops with a watch in them; `python -m dynascope.watching.examples.NAME`."""
