"""Does truncation help with few examples and harm with many? What the printed table can say."""
