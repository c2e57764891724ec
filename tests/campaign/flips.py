"""A flipped byte in any stored file: detected in its record, all others unharmed."""

from __future__ import annotations

import random
from pathlib import Path

from campaign.stored import Filled, told
from dynascope.core.errors import StoreError
from dynascope.store import Store
from dynascope.store.manifest import NAME


class Field(Filled):
    def attempt(self, draw: random.Random) -> list[str]:
        home = self.copy()
        files = sorted(p for p in home.rglob("*") if p.is_file() and p.stat().st_size)
        path = draw.choice(files)
        data = bytearray(path.read_bytes())
        place = draw.randrange(len(data))
        data[place] ^= draw.randrange(1, 256)
        path.write_bytes(data)
        where = f"byte {place} of {path.relative_to(home)}"
        try:
            return [f"{found} after {where}" for found in self.look(home, path)]
        except Exception as error:
            return [f"{type(error).__name__}: {error} after {where}"]

    def look(self, home: Path, path: Path) -> list[str]:
        """What is wrong: another record is harmed, or this one is read as something else."""
        store, bad = Store(home), []
        listed = {e.id: e for e in store.runs()}
        for id_, before in self.content.items():
            hit = path.parent == store.records / id_
            try:
                now = told(store, id_)
            except StoreError as error:
                now = None
                if "\n" in str(error):
                    bad.append("more than one line")
            if not hit and now != before:
                bad.append(f"{id_} is harmed")
            # A byte of a manifest's label or settings is no damage that could be told.
            if hit and path.name != NAME and now is not None:
                bad.append(f"{id_} is read as if nothing had happened")
            if id_ not in listed:
                bad.append(f"{id_} is not listed")
        return bad
