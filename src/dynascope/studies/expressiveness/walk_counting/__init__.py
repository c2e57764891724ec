"""Walk counting: message passing learns it, precomputed features do not."""
