"""Measuring functions of the period-two study on planted input, and known numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynascope.studies.oscillation.period_two import claims, runs


def planted(simulated, law, multiplier=0.9, condition=True):
    return runs.PastLimit(np.array(simulated), np.array(law), 1.0, multiplier, condition)


def test_the_theorems_rates_are_those_of_the_ledger():
    """EOS-T3.1: rates and upper bounds of (x^2 - 1)^2 / 4 at .99, .95 and .9."""
    found = runs.brackets.function(None, "quartic")
    assert found["kept"].all()
    at = [0.99, 0.95, 0.9]
    rates = np.interp(at, found["points"], found["rates"])
    bounds = np.interp(at, found["points"], found["bounds"])
    assert rates == pytest.approx([1.000389, 1.008808, 1.032153], abs=3e-5)
    assert bounds == pytest.approx([1.0309, 1.1765, 1.4286], abs=2e-3)


def test_two_sines_settle_at_the_ledgers_half_amplitude():
    """EOS-FB.1: -pi/2 +- a with a / sin a = 1.01."""
    found = runs.two_functions.function(None, "sine")
    assert found["predicted"] == pytest.approx(
        -math.pi / 2 + np.array([-1, 1]) * 0.244097, abs=1e-6
    )
    assert found["seen"] == pytest.approx(found["predicted"], abs=1e-9)
    assert found["before"] == pytest.approx([-math.pi / 2], abs=1e-6)


def test_the_smallest_share_decides():
    found = {name: {"kept": np.array(flags)} for name, flags in
             {"all": [True, True], "half": [True, False]}.items()}  # fmt: skip
    assert claims.in_brackets(found, ("all",)).value == 1
    assert claims.in_brackets(found, ("all", "half")).value == 0.5


def test_the_cosine_has_the_orbit_it_is_known_for():
    """An input whose answer is known: a = eta sin a, without `flip` or its expansion."""
    found = runs.two_functions.function(None, "cosine")
    assert found["predicted"][1] == pytest.approx(0.244097, abs=1e-6)
    assert found["seen"] == pytest.approx(found["predicted"], abs=1e-9)


def test_the_error_of_the_law_is_the_worst_at_its_excess():
    s = runs.Settings(kappas=(0.01, 0.001))
    fits = {name: planted([1.0, 1.0, 1.0], [1.5, 1.01, 1.4]) for name in runs.FITTED}
    fits["sin"] = planted([1.0, 1.0, 1.0], [1.0, 1.02, 1.2])
    assert claims.error_of_law(s, fits, claims.ALL, 0.001).value == pytest.approx(0.02)
    assert claims.error_of_law(s, fits, claims.ALL, runs.FAR).value == pytest.approx(0.4)
    fits["exp"] = planted([1.0, math.nan, 1.0], [1.0, 1.0, 1.0])
    assert claims.error_of_law(s, fits, claims.ALL, 0.001).value == math.inf


def test_a_function_oscillates_if_it_settles_twice_and_satisfies_the_condition():
    good, bad = planted([0.1, 0.2], [0.1, 0.2]), planted([math.nan] * 2, [0.1] * 2, condition=False)
    assert claims.oscillating({"g": good}, ("g",)).value == 1
    assert claims.oscillating({"g": good, "h": bad}, ("g", "h")).value == 0.5
    assert (
        claims.largest_multiplier({"g": good, "h": planted([], [], -1.5)}, ("g", "h")).value == 1.5
    )


def test_the_rule_is_judged_on_the_pairs_it_speaks_of():
    flags = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]], bool)
    pairs = runs.Compositions(*flags, ())
    shares = {of: claims.rule_holds(pairs, of).value
              for of in ("both", "not both", "right sign", "wrong sign")}  # fmt: skip
    assert shares == pytest.approx({"both": 2 / 3, "not both": 0, "right sign": 1,
                                    "wrong sign": 0.5})  # fmt: skip


def test_powers_make_a_power():
    """Corollary 5: all satisfy Proposition 1, before and after."""
    found = runs.compositions.function(runs.Settings(pairs=2), "powers")
    assert len(found.whole) == 36 and found.printed.all() and found.corrected.all()
    assert found.whole.all()


def test_no_point_seen_misses_by_infinity():
    orbit = {
        "seen": np.array([0.9, 1.2]),
        "before": np.array([]),
        "predicted": np.array([0.9, 1.1]),
    }
    assert claims.miss({"f": orbit}, ("f",), "seen").value == pytest.approx(0.1)
    assert claims.miss({"f": orbit}, ("f",), "before").value == math.inf
