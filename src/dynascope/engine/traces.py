"""What jax remembers of a user's functions, forgotten where their code has changed.

jax keeps traces by function: of a jitted function, of the body of a scan. A function that
reads another constant now, or calls a helper that has been defined anew, is the same
function to jax, and its old trace would be put into the new program.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import jax

from dynascope.core.code import Arrays, Code, code_of

_TRACED: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # digest by function


def forget_old_traces(codes: Iterable[Code]) -> bool:
    """Forget all traces if one of these functions has other code than when it was last here.

    `functools.cache` on such a function is emptied too. Returns whether there was any.
    """
    arrays: Arrays = {}
    changed = []
    for function in (f for code in codes for f in code.functions):
        digest = code_of(function, arrays).digest
        if _TRACED.get(function, digest) != digest:
            changed.append(function)
        _TRACED[function] = digest
    for function in changed:
        getattr(function, "cache_clear", lambda: None)()
    if changed:
        jax.clear_caches()
    return bool(changed)
