"""One ReLU neuron past the edge of stability: it turns to its teacher, then oscillates."""
