from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynascope.core.errors import BadInput
from dynascope.core.records import Claim, Control, Measured
from dynascope.report.words import (
    control_words,
    duration,
    expected_false,
    expected_words,
    measured_words,
    number,
    power_of_ten,
    size,
    summary,
    ticks,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.31771, "0.3177"),
        (0.30000000000000004, "0.3"),
        (1234.5678, "1235"),
        (12345.678, "12,346"),
        (1e6, "1,000,000"),
        (1e7, "1e7"),
        (9.99996e-4, "1e-3"),
        (-1.2346e-7, "-1.235e-7"),
        (float("nan"), "NaN"),
        (float("-inf"), "-inf"),
    ],
)
def test_a_number_has_four_significant_digits(value, text):
    assert number(value) == text


@given(st.floats(-1e300, 1e300))
def test_a_number_reads_back_to_four_digits(value):
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=6e-4, abs=1e-320)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e3), st.integers(2, 8))
def test_tick_labels_differ_and_read_back(start, step, count):
    values = [start + i * step for i in range(count)]
    labels = ticks(values)
    assert len(set(labels)) == count
    assert [float(t.replace(",", "")) for t in labels] == pytest.approx(values, abs=step / 50)


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (Measured(None), "not measured"),
        (Measured(0.5), "0.5 (n = 1)"),
        (Measured(0.5, None, 8), "0.5 (n = 8)"),
        (Measured(0.31771, 0.1, 64, 0.3054, 0.33), "0.318 (95 %: 0.305 to 0.330, n = 64)"),
        (Measured(2.0, 0.0, 3, 2.0, 2.0), "2 (n = 3)"),
        (Measured(0.3, 0.1, 1), "0.3 (n = 1)"),
        (Measured(3.21e-5, 1e-7, 2, 3.1e-5, 3.3e-5), "3.21e-5 (95 %: 3.1e-5 to 3.3e-5, n = 2)"),
        (Measured(1234.0, 1.0, 2, 984.0, 1484.0), "1234 (95 %: 984 to 1484, n = 2)"),
        (Measured(1.0, None, 1, 0.9, 1.1, "exact"), "1.00 (95 %: 0.90 to 1.10)"),
        (Measured(float("nan"), float("nan"), 2), "NaN (n = 2)"),
        (Measured(1.0, 0.0, 24, 0.8575, 1.0, "share"), "24 of 24 (95 %: 86 to 100 %)"),
        (
            Measured(0.001, 0.03, 1000, 2.5e-5, 0.00556, "share"),
            "1 of 1000 (95 %: 0.0025 to 0.56 %)",
        ),
    ],
)
def test_the_digits_of_a_measurement_follow_its_interval(measured, text):
    assert measured_words(measured) == text


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ({"value": 0.0}, "0"),
        ({"low": 0.9, "high": None}, "≥ 0.9"),
        ({"low": None, "high": 2.0}, "≤ 2"),
        ({"low": 0.0, "high": 1.0}, "0 to 1"),
        ({"low": None, "high": None}, "any value"),
        ("three descents", "three descents"),
    ],
)
def test_what_is_expected_is_a_value_a_bound_or_a_text(expected, text):
    assert expected_words(expected) == text


def test_an_expectation_of_another_form_is_refused():
    with pytest.raises(BadInput, match="expected"):
        expected_words({"about": 1.0})


def test_a_control_that_holds_is_bad_news():
    holds, undecided = (Control("c", Measured(1.0), v) for v in ("holds", "undecided"))
    assert control_words(holds, as_it_must=False) == "holds, though it must not"
    assert control_words(holds, as_it_must=True) == "holds, as it must"
    assert control_words(undecided, as_it_must=False) == "undecided"


def claim(verdict, control):
    made = control and Control("c", Measured(1.0), control)
    return Claim("id", "statement", "source", Measured(1.0), "text", verdict, made)


def test_the_summary_counts_verdicts_and_controls():
    claims = [claim("holds", "fails"), claim("holds", "holds"), claim("fails", None)]
    words = "3 claims: 2 hold, 1 fails. 1 of 2 controls did not go as they must; see them."
    assert summary(claims).startswith(words)
    assert summary(claims[:1]).startswith("1 claim: 1 holds. Every control went as it must.")
    exact = replace(claims[0], measured=Measured(1.0, None, 1, 1.0, 1.0, "exact"))
    assert summary([exact]) == "1 claim: 1 holds. Every control went as it must."


def test_the_summary_says_how_many_decisions_chance_may_have_made():
    claims = [claim("holds", "fails")] * 30 + [claim("undecided", "fails")] * 5
    assert expected_false(claims) == pytest.approx(1.5)
    assert "30 rest on random seeds" in summary(claims) and "at most 1.5 to be wrong" in summary(
        claims
    )


def test_what_is_not_judged_is_counted():
    assert summary([claim("not_applicable", None)]) == "1 claim: 1 not applicable."


def test_sizes_durations_and_powers():
    assert [size(n) for n in (0, 999, 1000, 5.03e6, 2.5e13)] == [
        "0 B",
        "999 B",
        "1 kB",
        "5.03 MB",
        "25 TB",
    ]
    assert [duration(s) for s in (0.0, 59.4, 59.6, 3600)] == [
        "0 s",
        "59 s",
        "1 min 0 s",
        "1 h 0 min",
    ]
    assert power_of_ten(12) == "10¹²"
