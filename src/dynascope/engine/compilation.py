"""Compiling ahead: the programs of later experiments are made while earlier ones run.

XLA compiles one program mostly on one core, and in a study that runs for seconds compiling
is most of the work. What is computed does not depend on who compiled it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

from dynascope.engine.drive import compile_only
from dynascope.engine.experiment import Experiment
from dynascope.engine.loop_inputs import LoopInputs, loop_inputs
from dynascope.runtime.compilation_cache import compilation_cache
from dynascope.runtime.cores import cores
from dynascope.runtime.precision import precision

_AWAITED: dict[tuple, Future] = {}  # by what is compiled; shared by all threads


@contextmanager
def compiling_ahead(experiments: Iterable[Experiment]) -> Iterator[None]:
    """Compile these experiments' programs in their order, on other threads, during the body.

    The body's own programs go to the same compilation cache. An experiment that cannot be
    compiled is left to its own turn, which will say why.
    """
    pool = ThreadPoolExecutor(cores(), "compile")
    mine = []
    with compilation_cache():
        try:
            for experiment in experiments:
                inputs = loop_inputs(experiment)
                if inputs.signature not in _AWAITED and not inputs.unknown:
                    _AWAITED[inputs.signature] = pool.submit(_compile, inputs)
                    mine.append(inputs.signature)
            yield
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for signature in mine:
                del _AWAITED[signature]


def await_compilation(inputs: LoopInputs) -> None:
    """Wait for a thread that is compiling this; take over what none has begun."""
    future = _AWAITED.get(inputs.signature)
    if future is not None and not future.cancel():
        wait([future])


def _compile(inputs: LoopInputs) -> None:
    with precision(inputs.dtype):
        compile_only(inputs)
