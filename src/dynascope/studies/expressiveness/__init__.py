"""What graph networks can tell apart, count and learn (chen2025, chapter 2 and appendix A)."""
