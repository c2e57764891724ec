"""The shared words: specs, quantities, records, charts, random keys, registry, errors.

Every other room looks back at this one; this room looks at none. `records` and `charts`
hold plain data only and never import jax, so what leaves the JAX rooms can be stored,
drawn and served without it.
"""
