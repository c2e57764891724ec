"""Functions that a test calls once or twice, as one program that XLA polishes little.

Called as it is, a network is a hundred small programs, each of which XLA compiles alone.
"""

from __future__ import annotations

from collections.abc import Callable

import jax

from dynascope.runtime.quick_compile import LITTLE


def quick(function: Callable) -> Callable:
    """The same function, compiled in a third of the time.

    Its last digits may differ: not for draws that must be those of a run to the bit.
    """
    compiled = jax.jit(function, compiler_options=LITTLE)

    def call(*given):
        # Options are those of a whole program: as a part of another it is the function itself.
        part = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(given))
        return (function if part else compiled)(*given)

    return call
