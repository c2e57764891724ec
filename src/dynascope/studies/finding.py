"""The registry of studies: one is imported when it is asked for by name, all when all are.

Fifty studies take most of a second to import, and a command mostly needs one. A study of ours
lies in the folder of its name, so that none has to be imported to find it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dynascope.core.registry import Registry
from dynascope.core.sources import Document, documents
from dynascope.core.spec import is_ours

if TYPE_CHECKING:
    from dynascope.studies.study import Study

ROOT, PACKAGE = Path(__file__).parent, "dynascope.studies"


class Studies(Registry["Study"]):
    """Ours by folder, then those of installed packages and of the user, as they were added."""

    def add(
        self, name: str, thing: Study, replaces: Callable[[Study], bool] = lambda other: False
    ) -> Study:
        """Add a study; a name of ours is taken, whether or not ours has been imported."""
        if not is_ours(thing.settings):
            import_study(name)
        return super().add(name, thing, replaces)

    def get(self, name: str) -> Study:
        """The study of that name, or `UnknownName` with the nearest one.

        Its whole folder: somebody may have imported its runs and not its claims.
        """
        import_study(name)
        if name not in self._things:
            import_all()
        return super().get(name)

    def names(self) -> list[str]:
        """Every name."""
        return [study.name for study in self]

    def __iter__(self) -> Iterator[Study]:
        import_all()
        return iter(sorted(self._things.values(), key=_place))

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __len__(self) -> int:
        return len(self.names())


def _place(study: Study) -> tuple[bool, str]:
    """Ours in the order of their modules, then the others."""
    return (False, study.settings.__module__) if is_ours(study.settings) else (True, "")


def study_folders() -> list[Path]:
    """The folder of every study of ours."""
    return sorted(path.parent for path in ROOT.glob("*/*/__init__.py"))


@cache
def import_study(name: str) -> None:
    """Import the folder of a study of ours, if there is one of that name."""
    for folder in study_folders():
        if folder.name == name.replace("-", "_"):
            package = f"{PACKAGE}.{folder.parent.name}.{folder.name}"
            for module in pkgutil.iter_modules([str(folder)], f"{package}."):
                importlib.import_module(module.name)


def import_all() -> None:
    """Import every study: ours, and those of installed packages."""
    importlib.import_module(f"{PACKAGE}.everything")


def bibliography() -> Registry[Document]:
    """Every document, also those that only an installed package's study brings."""
    import_all()
    return documents
