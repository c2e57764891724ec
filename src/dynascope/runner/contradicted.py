"""`python -m dynascope.runner.contradicted`: stored claims of documents that fail, as Markdown."""

from __future__ import annotations

from dynascope.core.sources import documents
from dynascope.report.contradicted import contradicted_page
from dynascope.runner.last_verdicts import last_results
from dynascope.store import Store

if __name__ == "__main__":
    results = list(last_results(Store()).values())
    print(contradicted_page(results, documents), end="")
