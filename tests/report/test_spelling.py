from dynascope.report.spelling import spelled
from dynascope.report.words import VERDICT_SIGNS


def test_what_an_encoding_has_stays_as_it_is():
    assert spelled("σ ± ⠶", "utf-8") == "σ ± ⠶"
    assert spelled("± é", "latin-1") == "± é"


def test_signs_and_greek_letters_are_spelled_out():
    assert spelled("Σ λ ≥ 10⁻³ … é ✓ 漢", "ascii") == "Sigma lambda >= 10^-3 ... e + ?"


def test_the_signs_of_verdicts_stay_apart_in_ascii():
    signs = [spelled(s, "ascii") for s in VERDICT_SIGNS.values()]
    assert len(set(signs)) == len(signs) and all(s.isascii() for s in signs)


def test_an_unknown_encoding_gets_ascii():
    assert spelled("±a", "no-such-encoding").isascii()
