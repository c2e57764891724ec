import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynascope.core.errors import BadInput
from dynascope.core.records import Claim, Control, Measured
from dynascope.report.words import (
    control_words,
    duration,
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
        (Measured(0.5), "0.5"),
        (Measured(0.5, None, 8), "0.5 (n = 8)"),
        (Measured(0.31771, 0.0123, 64), "0.318 ± 0.012 (n = 64)"),
        (Measured(2.0, 0.0, 3), "2 ± 0 (n = 3)"),
        (Measured(0.0, 0.0, 3), "0 ± 0 (n = 3)"),
        (Measured(3.21e-5, 1.4e-7, 2), "(3.210 ± 0.014)e-5 (n = 2)"),
        (Measured(1234.0, 250.0, 2), "1234 ± 250 (n = 2)"),
        (Measured(0.5, 1e-12, 2), "0.5 ± 1e-12 (n = 2)"),
        (Measured(float("nan"), float("nan"), 2), "NaN ± NaN (n = 2)"),
    ],
)
def test_the_digits_of_a_measurement_follow_its_spread(measured, text):
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
    assert control_words(Control("c", Measured(1.0), "holds")) == "holds, though it must not"
    assert control_words(Control("c", Measured(1.0), "undecided")) == "undecided"


def claim(verdict, control):
    made = control and Control("c", Measured(1.0), control)
    return Claim("id", "statement", "source", Measured(1.0), "text", verdict, made)


def test_the_summary_counts_verdicts_and_controls():
    claims = [claim("holds", "fails"), claim("holds", "holds"), claim("fails", None)]
    words = "3 claims: 2 hold, 1 fails. 1 of 2 controls fail as they must; look at the rest."
    assert summary(claims) == words
    assert summary(claims[:1]) == "1 claim: 1 holds. Every control fails, as it must."
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
