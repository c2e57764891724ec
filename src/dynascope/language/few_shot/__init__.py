"""Questions with a few worked examples before them: prompts, answers read off, paired tests."""

from dynascope.language.few_shot.answers import final_number, prompt_of, right
from dynascope.language.few_shot.asking import ask
from dynascope.language.few_shot.comparing import Paired, paired, sign_pattern, z_of_shares

__all__ = ["Paired", "ask", "final_number", "paired", "prompt_of", "right", "sign_pattern",
           "z_of_shares"]  # fmt: skip
