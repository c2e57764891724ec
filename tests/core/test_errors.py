"""Messages stay one line that a person reads, however many names there are."""

from dynascope.core.errors import unknown


def test_of_many_names_the_nearest_are_shown():
    names = [f"study-{i:03d}" for i in range(1000)]
    said = str(unknown("study", "stdy-007", names))
    assert "did you mean 'study-007'?" in said
    assert said.endswith("and 992 more") and len(said) < 200


def test_few_names_are_all_shown():
    assert (
        str(unknown("scale", "x", ["smoke", "paper"])) == "unknown scale 'x'; Known: paper, smoke"
    )
