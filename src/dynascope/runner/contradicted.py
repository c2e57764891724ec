"""`python -m dynascope.runner.contradicted [PAGE]`: claims of documents that fail, as Markdown.

From stored results that are current, of the study as it is; the rows of studies that have none are
those of the page as it was.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dynascope.core.sources import documents
from dynascope.report.contradicted import contradicted_page
from dynascope.runner.last_verdicts import is_current, last_results
from dynascope.store import Store

if __name__ == "__main__":
    found = last_results(Store()).values()
    results = [r for r in found if is_current(r) and not r.provenance["changes"]]
    earlier = Path(sys.argv[1]).read_text("utf-8") if sys.argv[1:] else ""
    print(contradicted_page(results, documents, earlier), end="")
