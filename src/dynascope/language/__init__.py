"""Trained language models: reading, edits of their weights, and what these do to prompts."""

from dynascope.language.attribution import Attribution, attribute, attribution_series
from dynascope.language.generation import generate
from dynascope.language.loading import load_model, model_size
from dynascope.language.model import LanguageModel
from dynascope.language.prompts import Prompt, encoded, facts, ioi, prepositions, read_prompts
from dynascope.language.saving import save_model
from dynascope.language.scoring import Scores, score, top_tokens
from dynascope.language.search import Found, search

__all__ = [
    "Attribution",
    "Found",
    "LanguageModel",
    "Prompt",
    "Scores",
    "attribute",
    "attribution_series",
    "encoded",
    "facts",
    "generate",
    "ioi",
    "load_model",
    "model_size",
    "prepositions",
    "read_prompts",
    "save_model",
    "score",
    "search",
    "top_tokens",
]
