"""A language model's heads change by matrices of low rank, whose rank rises as it learns."""
