"""Every test has a results folder of its own, and finds the real data sets if they are near."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

# One study per phenomenon runs in `make test`; all of them in `make test-all`.
QUICK_STUDIES = ("swing-by", "quartic-orbits", "quadratic-map", "linearity-width", "graph-pairs",
                 "noise-avoidance", "rank-full-head", "vector-diffusion")  # fmt: skip
NEAR = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(autouse=True, scope="session")
def _places(tmp_path_factory):
    """A results folder for the session (compiled programs are shared), and the data folder.

    That is DYNASCOPE_DATA; where it is not set, a folder beside the checkout if there is one.
    """
    os.environ["DYNASCOPE_HOME"] = str(tmp_path_factory.mktemp("home"))
    if NEAR.is_dir():
        os.environ.setdefault("DYNASCOPE_DATA", str(NEAR))
    yield


@pytest.fixture(autouse=True)
def _same_configuration():
    """No call of ours may change the caller's jax configuration."""
    import jax

    names = ("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_compilation_cache_dir")
    before = {name: getattr(jax.config, name) for name in names}
    yield
    assert {name: getattr(jax.config, name) for name in names} == before


@pytest.fixture(autouse=True)
def _bounded_memory():
    """Compiled programs of fifty studies would fill the memory: at a limit they are let go.

    The limit is a quarter of the machine's memory, from 4 to 6 GB: what is compiled anew after it
    takes long. Where programs are small and many, the kernel's number of mapped regions runs out
    before that, and XLA ends the process: a third of them is the other limit, asked for after
    tests that took long enough to compile much.
    """
    begun = time.perf_counter()
    yield
    statistics = Path("/proc/self/statm")
    if not statistics.exists():
        return
    page, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
    limit = min(max(page * pages / 4, 4 * 2**30), 6 * 2**30)
    full = int(statistics.read_text().split()[1]) * page > limit
    if not full and time.perf_counter() - begun > 1:
        most = int(Path("/proc/sys/vm/max_map_count").read_text())
        full = Path("/proc/self/maps").read_text().count("\n") > most / 3
    if full:
        import ctypes
        import gc
        from contextlib import suppress

        import jax

        from dynascope.engine import program

        program._PROGRAMS.clear()
        jax.clear_caches()
        gc.collect()
        with suppress(OSError, AttributeError):  # glibc keeps what is freed until it is asked
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def pytest_collection_modifyitems(items):
    """Studies beyond the quick ones run in `make test-all`."""
    for item in items:
        study = _study(item)
        if study and study not in QUICK_STUDIES:
            item.add_marker(pytest.mark.slow)


def _study(item) -> str | None:
    """The study that a test runs at smoke scale, if it does."""
    names = set(getattr(item, "fixturenames", ()))
    if {"outcome", "claims"} & names:
        return getattr(item.module, "STUDY", None)
    if "outcomes" in names and hasattr(item, "callspec"):
        return item.callspec.params["study"].name
    return None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of one file, or of one study, go to one worker, where a study runs once.

    The groups of xdist 3.8 are marks on ids that pytest 9 no longer reads.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByStudy(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path, _, test = nodeid.partition("::")
            if not path.startswith("tests/studies/"):
                return path
            # `test_contract.py::test_words[swing-by]` and `test_swing_by.py` are about one study.
            own = Path(path).stem.removeprefix("test_").replace("_", "-")
            walks = own in ("contract", "broken-detectors", "kill")
            return test.partition("[")[2].rstrip("]") or own if walks else own

    return ByStudy(config, log)
