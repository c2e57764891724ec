"""Past the critical rate gradient descent spikes in the kernel's top eigenspace, and converges."""
