"""The reference systems, integrated once for all tests of this folder."""

import numpy as np
import pytest

from .systems import System, plane_settings, solve_plane, solve_references


@pytest.fixture(scope="session")
def plane() -> dict[str, System]:
    return solve_plane(plane_settings())


@pytest.fixture(scope="session")
def turn() -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]


@pytest.fixture(scope="session")
def references(turn) -> dict[str, System]:
    return solve_references(turn)


@pytest.fixture(scope="session")
def triple(references) -> System:
    return references["triple"]


@pytest.fixture(scope="session")
def quadruple(references) -> System:
    return references["quadruple"]
