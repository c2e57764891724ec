"""Registries: a name is taken once, save by the same class defined anew."""

from __future__ import annotations

import pytest

from dynascope.core.registry import Registry


def define(name):
    return type(name, (), {})


def test_a_class_defined_anew_takes_its_own_place_and_no_other():
    kinds = Registry("kind")
    kinds.add("one", define("One"))
    newest = kinds.add("one", define("One"))
    assert kinds.get("one") is newest
    for other in (define("Other"), 1):
        with pytest.raises(ValueError, match="'one' is registered twice"):
            kinds.add("one", other)
