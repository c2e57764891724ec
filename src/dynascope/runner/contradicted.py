"""`python -m dynascope.runner.contradicted [PAGE]`: claims of documents that fail, as Markdown.

From stored results; the rows of studies that have none are those of the page as it was.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dynascope.core.sources import documents
from dynascope.report.contradicted import contradicted_page
from dynascope.runner.last_verdicts import last_results
from dynascope.store import Store

if __name__ == "__main__":
    results = list(last_results(Store()).values())
    earlier = Path(sys.argv[1]).read_text("utf-8") if sys.argv[1:] else ""
    print(contradicted_page(results, documents, earlier), end="")
