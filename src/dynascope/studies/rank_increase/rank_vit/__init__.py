"""A vision transformer's heads change by matrices of low rank, lower from smaller starts."""
