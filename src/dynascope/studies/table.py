"""All studies in one table, written by `make docs` to `docs/studies.md`."""

from __future__ import annotations

import itertools

from dynascope.core.sources import cited
from dynascope.core.spec import is_ours
from dynascope.studies import studies

HEAD = """\
# Studies

Made by `python -m dynascope.studies.table > docs/studies.md`. `dynascope list NAME` shows the
settings and claims of a study, `dynascope run NAME` runs it.
"""


def page() -> str:
    """The studies of this package by phenomenon: title, sources, number of claims."""
    ours = [s for s in studies if is_ours(s.settings)]
    ours.sort(key=lambda s: (s.phenomenon, s.name))
    parts = [HEAD]
    for phenomenon, group in itertools.groupby(ours, lambda s: s.phenomenon):
        parts += [f"## {phenomenon.replace('-', ' ').replace('_', ' ').capitalize()}\n"]
        parts += ["| study | what it looks at | sources | claims |", "|---|---|---|---|"]
        parts += [
            f"| `{s.name}` | {s.title} | {cited(s.sources)} | {len(s.claims)} |" for s in group
        ]
        parts += [""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
