"""Where data sets lie: the one folder, and a finder that says what to do if one is missing."""

from dynascope.data.folder import find, folder, present

__all__ = ["find", "folder", "present"]
