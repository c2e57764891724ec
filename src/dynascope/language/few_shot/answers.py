"""The number that an answer ends in, and the text that asks for one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from dynascope.data.questions import Question

MARK = "####"
_NUMBER = re.compile(r"[-−]?\s?\$?\s?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-−]?\$?\.\d+")
_NOTES = re.compile(r"<<[^<>]*>>")  # GSM8K's notes for a calculator


def final_number(text: str) -> Decimal | None:
    """The number behind the first "####", else the last number of the text; None without one.

    Example:
        >>> final_number("so it is #### 1,234"), final_number("It costs $18."), final_number("no")
        (Decimal('1234'), Decimal('18'), None)
        >>> final_number("#### -3") == -3, final_number("about 18.0 kg") == 18
        (True, True)
    """
    _, marked, behind = text.partition(MARK)
    found = _NUMBER.findall(behind.split("\n")[0]) if marked else _NUMBER.findall(text)[-1:]
    if not found:
        return None
    return Decimal(re.sub(r"[\s$,]", "", found[0]).replace("−", "-"))


def right(text: str, gold: str) -> bool:
    """Whether an answer ends in the number of the worked one."""
    number = final_number(text)
    return number is not None and number == final_number(gold)


def prompt_of(examples: Sequence[Question], question: str) -> str:
    """Worked examples, then the question: the model writes the answer on.

    Example:
        >>> print(prompt_of([Question("1 + 1?", "1 + 1 = <<1+1=2>>2 #### 2")], "2 + 2?"))
        Question: 1 + 1?
        Answer: 1 + 1 = 2 #### 2
        <BLANKLINE>
        Question: 2 + 2?
        Answer:
    """
    parts = [f"Question: {e.question}\nAnswer: {_NOTES.sub('', e.answer)}\n" for e in examples]
    return "\n".join([*parts, f"Question: {question}\nAnswer:"])
