"""One step from zero: the feed-forward part learns the noise N times as fast as attention."""
