"""The shared words: specs, quantities, records, charts, random keys, registry, errors.

Every other package may import this one; this one imports none. `records` and `charts`
hold plain data only and never import jax, so what leaves the JAX packages can be stored,
drawn and served without it.
"""
