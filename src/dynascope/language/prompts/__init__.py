"""Prompts with two possible answers: one from the context or a fact, and a generic one.

`sets` has the built-in ones, `reading` a user's own file, `encoding` makes tokens of them.
"""

from dynascope.language.prompts.base import Prompt
from dynascope.language.prompts.encoding import Encoded, encoded
from dynascope.language.prompts.reading import read_prompts
from dynascope.language.prompts.sets import SETS, facts, ioi, prepositions

__all__ = [
    "SETS",
    "Encoded",
    "Prompt",
    "encoded",
    "facts",
    "ioi",
    "prepositions",
    "read_prompts",
]
