"""What a command does for a user's own object: a function, a network's wiring, a graph, a log.

`orbits` (gradient descent on a function of one number), `network` (how linear a network becomes
as it widens), `graph` (what each family of models tells apart), `ranks` (what changed between
checkpoints), `spikes` (why a training loss jumps). Each has one function that a command calls;
what it returns is plain data.
"""

from dynascope.instruments.spikes.explaining import Explained, explain_spikes
from dynascope.instruments.spikes.finding import Spike, find_spikes
from dynascope.instruments.spikes.reading import Log, read_log

__all__ = ["Explained", "Log", "Spike", "explain_spikes", "find_spikes", "read_log"]
