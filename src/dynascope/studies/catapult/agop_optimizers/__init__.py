"""Over seven optimisers the test loss ranks as the alignment of the features does."""
