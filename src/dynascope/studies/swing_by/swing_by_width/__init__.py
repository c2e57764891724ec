"""Who swings by: narrow and deep networks from correlated starts that are not too small."""
