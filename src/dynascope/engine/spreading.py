"""One lane's function for all lanes: vmapped or mapped, and shared out among the devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jax import lax

Arguments = tuple[Any, ...]  # leaves by path, arguments of each lane, arguments that all share


class Spread(NamedTuple):
    """A function of all lanes, and where its arguments lie."""

    call: Callable
    placed: Callable[[Arguments], Arguments] | None  # sharding of each array; None for one device


def over_lanes(one: Callable, batched: frozenset[str], mapped: bool) -> Callable:
    """A function of one lane as one of all; leaves that are `batched` have a lane axis."""

    def call(values: dict, lanes: tuple, *shared: Any) -> Any:
        own = {k: v for k, v in values.items() if k in batched}
        common = {k: v for k, v in values.items() if k not in batched}

        def single(args: tuple) -> Any:
            own, lane = args
            return one({**own, **common}, *lane, *shared)

        return lax.map(single, (own, lanes)) if mapped else jax.vmap(single)((own, lanes))

    return call


def over_devices(call: Callable, batched: frozenset[str], devices: int) -> Spread:
    """Lanes shared out among devices; each runs its own share of the loop."""
    if devices == 1:
        return Spread(call, None)
    mesh = jax.make_mesh(
        (devices,), ("lane",), axis_types=(jax.sharding.AxisType.Auto,),
        devices=jax.local_devices()[:devices],
    )  # fmt: skip
    lane, whole = jax.sharding.PartitionSpec("lane"), jax.sharding.PartitionSpec()

    def specs(values: dict, lanes: tuple, *shared: Any) -> Arguments:
        return {k: lane if k in batched else whole for k in values}, lane, *(whole for _ in shared)

    def spread(*arguments: Any) -> Any:
        shards = jax.shard_map(
            call, mesh=mesh, in_specs=specs(*arguments), out_specs=lane, check_vma=False
        )
        return shards(*arguments)

    def placed(arguments: Arguments) -> Arguments:
        def place(spec: Any, part: Any) -> list:
            return [jax.sharding.NamedSharding(mesh, spec)] * len(jax.tree.leaves(part))

        of_values, *others = specs(*arguments)
        firsts = [s for k in sorted(of_values) for s in place(of_values[k], arguments[0][k])]
        rest = [s for spec, part in zip(others, arguments[1:]) for s in place(spec, part)]
        return tuple(firsts + rest)

    return Spread(spread, placed)
