"""Runs whose behaviour is known, with and without each thing that the diagnosis looks for.

`python -m dynascope.watching.planted` prints how often each rule speaks on runs that have it and on
runs that do not, with 95 % intervals. The seeds are not those that thresholds were chosen on.
"""
