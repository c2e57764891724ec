"""Exact combinatorics on graphs: readers, colour refinement, operators, walks, trees.

What a message-passing network can tell apart, what a model on precomputed features can, and
what the difference costs on a given target; before any training.
"""

from dynascope.graphs.classes import count_classes, partitions
from dynascope.graphs.conversion import as_graph, union
from dynascope.graphs.distinguishing import Distinction, distinguish
from dynascope.graphs.family import families
from dynascope.graphs.floor import class_floor
from dynascope.graphs.graph import Graph, from_edges
from dynascope.graphs.loading import load
from dynascope.graphs.node_values import read_values
from dynascope.graphs.refinement import refine

__all__ = [
    "Distinction",
    "Graph",
    "as_graph",
    "class_floor",
    "count_classes",
    "distinguish",
    "families",
    "from_edges",
    "load",
    "partitions",
    "read_values",
    "refine",
    "union",
]
