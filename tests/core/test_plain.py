"""Plain forms: what is stored today is found tomorrow, and classes find their tags."""

from __future__ import annotations

import dataclasses
import hashlib
import struct
import sys
import types

import numpy as np
import pytest

from dynascope import dynamics, models, probes, record, tasks
from dynascope.core import spec
from dynascope.core.errors import BadInput
from dynascope.core.plain import CLASS_CODE, fingerprint, from_plain, identify, to_plain
from dynascope.core.spec import Spec
from dynascope.engine import Experiment

# Fingerprints under which records of version 0.1.0 are stored.
STORED = {
    "23eb2a763bea6334": Experiment(
        tasks.IdentityMapping(means=(1.0, 1.5), scales=(0.05, 0.05)),
        models.TiedLinear(width=3, init_scale=0.2, init="uniform"),
        dynamics.GradientDescent(0.005),
        (probes.Loss(), probes.TestLoss()),
        steps=4000,
        seeds=tuple(range(4)),
    ),
    "b3fec8640114de89": Experiment(
        tasks.IdentityMapping((1.0,), (0.0,)),
        models.Linear(0.0),
        dynamics.GradientFlow(),
        (probes.OutputAt(),),
        time=2.0,
        dtype="float64",
        record=record.LogSpaced(20, 0.1),
    ),
    "e0c9f10450763b23": Experiment(
        tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1), samples_per_cluster=4),
        models.MLP(depth=2, width=4, activation="relu"),
        dynamics.Adam(dynamics.Cosine(0.01, 50)),
        (probes.Loss(name="train"), probes.Sharpness()),
        steps=50,
        record=record.OnChange(of="train"),
        over=(("task.means[0]", (0.5, 1.0)), ("model.width", (2, 3))),
    ),
}

TWO_FLOATS = hashlib.sha256(struct.pack("<2d", 1.0, 2.0)).hexdigest()


@pytest.mark.parametrize("stored", STORED)
def test_records_of_today_are_found_tomorrow(stored):
    found = identify(STORED[stored])
    assert found.fingerprint == found.key == stored
    assert found.unknown == [] and CLASS_CODE not in str(found.plain)


def test_arrays_are_known_by_their_type_as_well():
    """int8 -1 and uint8 255 are the same bytes; float64 keeps the form it was stored in."""
    same_bytes = [np.array([-1], np.int8), np.array([255], np.uint8), np.array([True])]
    assert len({fingerprint(array) for array in same_bytes}) == 3
    assert fingerprint(np.array([1, 2], np.float32)) != fingerprint(np.array([1.0, 2.0]))
    assert to_plain(np.array([[1.0, 2.0]])) == {"array": TWO_FLOATS, "shape": [1, 2]}


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"value": 1.0, "gone": 2}, "'gone'"), ({}, "missing a required argument: 'value'")],
)
def test_fields_that_a_class_has_no_longer_are_said_in_one_line(fields, words):
    @dataclasses.dataclass(frozen=True)
    class Changed(Spec):
        value: float

    with pytest.raises(BadInput, match=f"Changed: .*{words}; its settings are others now"):
        from_plain({"spec": Changed.spec_tag, **fields})


def define(value, module=__name__):
    """A class of one name, with another default each time; the last one is the one that counts."""
    fields = {"__annotations__": {"value": float}, "value": value, "__module__": module}
    return dataclasses.dataclass(frozen=True)(type("Setting", (Spec,), fields))


def test_the_newest_class_of_a_name_restores_what_an_older_one_wrote():
    old = define(1.0)
    plain = to_plain(old(3.0))
    new = define(2.0)
    restored = from_plain(plain)
    assert type(restored) is new and restored == new(3.0)
    assert plain[CLASS_CODE] != to_plain(restored)[CLASS_CODE]
    assert fingerprint(old(3.0)) != fingerprint(new(3.0))


def test_two_classes_of_ours_may_not_share_a_tag(monkeypatch):
    monkeypatch.setattr(spec, "_CLASSES", dict(spec._CLASSES))  # of this test alone
    first = define(1.0, "dynascope.tasks.one")
    with pytest.raises(ValueError, match=r"tag of both dynascope\.tasks\.one\.Setting and"):
        define(1.0, "dynascope.tasks.two")
    assert type(from_plain(to_plain(first()))) is first
    assert define(2.0, "dynascope.tasks.one") is not first  # a reload


def test_a_tag_belongs_to_one_class_of_one_place(monkeypatch):
    """Two packages, or two classes of a module; not a cell or a script that is run again."""
    monkeypatch.setattr(spec, "_CLASSES", dict(spec._CLASSES))  # of this test alone

    def tagged(module, name="Setting"):
        return type(name, (Spec,), {"__module__": module}, tag="tests.taken")

    first, again = tagged("notebook"), tagged("notebook")
    assert first is not again and spec.class_of("tests.taken") is again
    for module, name in (("elsewhere", "Setting"), ("notebook", "Another")):
        with pytest.raises(ValueError, match=r"is the tag of both notebook\.Setting and"):
            tagged(module, name)
    assert spec.class_of("tests.taken") is again
    for module in ("script", "script_as_module"):
        file = types.SimpleNamespace(__file__="script.py")
        monkeypatch.setitem(sys.modules, module, file)
    spec._CLASSES.pop("tests.taken")
    assert tagged("script") is not tagged("script_as_module")
