"""Records on disk: runs as Zarr, studies as JSON, each behind a manifest.

A record is a folder `records/<id>`. Its data files are written first, whole and under
fresh names; `manifest.json` is replaced last, in one move, and readers look only at what
it names. So a kill at any moment leaves the record as it was after the last append that
finished. Nothing stored is overwritten by different content.

Files: `base` the store, `sink` what the engine writes through, `manifest` the small file
that decides, `arrays` datasets as bytes, `files` the disk, `lock` one writer per
fingerprint, `index` ids and listing, `reading` records back to data, `merge` many small
parts into few, `again` and `compare` what happens when something is computed twice,
`studies` the same for studies, `export` other people's formats.
"""

from dynascope.store.base import Store
from dynascope.store.index import Entry
from dynascope.store.sink import RecordSink

__all__ = ["Entry", "RecordSink", "Store"]
