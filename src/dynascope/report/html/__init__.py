"""HTML of what is stored: the report of one result, and the pages of a site.

`report.page` is one file that needs nothing beside it. The pages of a site share a style, a
script and plotly.js, which lie beside them; the documentation (`docs_site`) and the live page
are both made of them:

- `entry.StudyEntry`: a study as declared, with its newest stored result (`runner.entries` makes
  them from a store);
- `gallery.gallery`: all studies by phenomenon, with thumbnails (`gallery.thumbnail`) and tallies;
- `study.study_page`: title, claims, charts, where we read the document differently, settings;
- `document.document_page`: the same for all claims about one document;
- `shell.whole_page`: any of these bodies as a page, with its title and navigation;
- `shell.assets`: the files that all pages share.

Addresses come from `links.Links`, so that a page works from a disk and from a server.
"""
