"""The page: studies, records and explorers in the browser.

`server` answers requests and holds no science; `pool` keeps two warm processes, one that reads
the store and renders pages, one that moves explorers; `jobs` runs studies in processes of their
own. What a process answers is in `answers`. No path of a request is ever opened.
"""
