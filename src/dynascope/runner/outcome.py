"""What `run` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.records import Claim, StudyResult
from dynascope.store import Store
from dynascope.store.export import claim_columns
from dynascope.store.files import damaged

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Outcome:
    """The result of a study, where it is stored, and whether it was there already."""

    result: StudyResult
    record: str
    from_store: bool
    store: Store
    earlier: str | None = None  # the record that was there before it was computed again

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim with its verdict."""
        return self.result.claims

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart as data."""
        return self.result.charts

    def datasets(self) -> list[xr.Dataset]:
        """The runs behind the claims, in the order of the study.

        Each is a dataset as `simulate` returns it, with its settings in `attrs["spec"]`.
        """
        found = (self.store.load(id) for id in self.result.runs)
        return [run for run in found if isinstance(run, xr.Dataset)]

    def to_frame(self) -> pd.DataFrame:
        """The claims as a pandas table: verdict, value, interval, bound, controls, source."""
        import pandas as pd

        return pd.DataFrame(claim_columns(self.result.claims)).set_index("id")

    def __repr__(self) -> str:
        from dynascope.report.words import summary

        counts = summary(self.claims).partition(".")[0]
        return f"Outcome({self.result.study!r}, {self.result.scale!r}: {counts}; {self.record})"

    def _repr_html_(self) -> str:
        """In a notebook: the headline and the verdicts."""
        from dynascope.report import result_html

        return result_html(self.result)


def stored_result(store: Store, record: str) -> StudyResult:
    """A stored result; a record of another kind under its fingerprint is damaged."""
    result = store.load(record)
    if not isinstance(result, StudyResult):
        raise damaged(store.records / record, "it holds no study's result")
    return result
