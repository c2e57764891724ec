"""What a command or an explorer does for somebody: measured, and drawn as panels.

For a user's own object: `orbits` (gradient descent on a function of one number), `network` (how
linear a network becomes as it widens), `graph` and `node_classes` (what each family of models
tells apart), `ranks` (what changed between checkpoints), `spikes` (why a training loss jumps),
`laser` (what truncating a language model does). Each has one function that a command calls.

For an explorer, theory beside simulation at some settings: `concepts` (a linear model learns
concepts apart), `factors` (two factors past the edge), `phases` (the quadratic model), `memory`
(noisy labels), `staircase` (products from a small start). What they return is plain data.
"""

from dynascope.instruments.spikes.explaining import Explained, explain_spikes
from dynascope.instruments.spikes.finding import Spike, find_spikes
from dynascope.instruments.spikes.reading import Log, read_log

__all__ = ["Explained", "Log", "Spike", "explain_spikes", "find_spikes", "read_log"]
