"""`python -m dynascope.runner.contradicted [PAGE]`: claims of documents that fail, as Markdown.

From stored results that are current, of the study as it is and not at smoke scale. A PAGE is
written anew in its place, and keeps the rows of studies that have no such result.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dynascope.report.contradicted import contradicted_page
from dynascope.runner.last_verdicts import is_current, last_results
from dynascope.store import Store
from dynascope.studies import bibliography

if __name__ == "__main__":
    results = [
        result for result in last_results(Store()).values()
        if is_current(result) and not result.provenance["changes"] and result.scale != "smoke"
    ]  # fmt: skip
    if sys.argv[1:]:
        page = Path(sys.argv[1])
        page.write_text(
            contradicted_page(results, bibliography(), page.read_text("utf-8")), "utf-8"
        )
    else:
        print(contradicted_page(results, bibliography()), end="")
