"""The documentation as a folder of plain HTML files that a browser opens from the disk.

`python -m dynascope.docs_site --out site` (`make docs`) builds it: pages written in Markdown
(`plan`, `markdown`), the API from docstrings (`api`, `docstrings`), and the gallery, studies and
documents from what is stored (`report.html`). Nothing is run unless `--run STUDY` asks for it: a
study without a stored result shows its claims without verdicts, and says so.
"""
