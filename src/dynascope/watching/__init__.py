"""Probes attached to somebody else's training loop, and what they say in words.

`dynascope.watch(model, loss)` is the way in. Files: `attach` the object that is called once a
step, `budget` when to measure, `measurements` what, `torch_point` and `jax_point` the model on a
batch, `quiet` how a torch model is called without a trace, `rules`, `torch_optimizers` and
`optax_rules` which rate is too large for whom, `rows` the record in memory, `saving` on its way to
the store, `diagnosis` what the record shows.
"""

from dynascope.watching.attach import Watch, watch
from dynascope.watching.rules import UpdateRule

__all__ = ["UpdateRule", "Watch", "watch"]
