"""What graph networks can tell apart, count and learn (thesis 002, chapter 2 and appendix A)."""
