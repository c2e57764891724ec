"""Test loss past the critical rate: network, linear model and quadratic model compared."""
