"""Prompts and tokens: answers of several tokens, a user's own file."""

from __future__ import annotations

import struct

import pytest

from dynascope.core.errors import BadInput
from dynascope.language.prompts import Prompt, encoded, facts, ioi, prepositions, read_prompts
from dynascope.language.prompts.sets import CITIES, FACTS, NAMES, PREPOSITIONS, SENTENCES
from dynascope.language.scoring import score
from dynascope.language.tokenizers.scored import ScoredTokens, read_llama2c_tokens

from .small import model, tokens


def test_prepositions_sentences_and_facts():
    """Check 21."""
    assert len(PREPOSITIONS) == len(set(PREPOSITIONS)) == 30 and len(FACTS) == 20
    assert len(set(SENTENCES)) == 40
    endings = [sentence.split()[-1] for sentence in SENTENCES]
    assert set(endings) <= set(PREPOSITIONS)
    counts = {"without": 7, "during": 5, "beneath": 5, "around": 5, "before": 3, "over": 3,
              "with": 3, "above": 2, "along": 2}  # fmt: skip
    assert {word: endings.count(word) for word in counts} == counts
    assert not [s for s in SENTENCES if " the " in s.lower() or s.startswith("The ")]
    assert ("The Galápagos Islands belong to", "Ecuador") in FACTS
    assert len(prepositions()) == 70 and len(facts(20)) == 20
    assert len({p.text for p in facts(20 + len(CITIES))}) == 20 + len(CITIES)


def test_who_gave_to_whom_asks_for_the_name_that_stands_once():
    prompts = ioi(200)
    assert len({p.text for p in prompts}) == 200 and ioi(200) == prompts != ioi(200, seed=1)
    for text, answer, generic, giver in prompts:
        words = text.replace(",", "").replace(".", "").split()
        assert words.count(answer) == 1 and words.count(giver) == 2 and {answer, giver} <= {*NAMES}
        assert generic == "the" and "the" not in words and words[-1] == "to"
    with pytest.raises(BadInput, match="from 1 to"):
        ioi(10**6)


def test_first_tokens_are_scored_and_that_is_said():
    lm = model()
    prompts = encoded(lm, [Prompt("a cat gave", "dog"), Prompt("a dog", "mouse")])
    assert lm.decode([1, *prompts.answer[:1]]) == "dog"
    assert "1 of 2 ('mouse' is" in prompts.notes[0]
    found = score(lm, prompts)
    assert found.answer.shape == (2,) and (found.answer < 0).all()
    with pytest.raises(BadInput, match="differ in their first token"):
        encoded(lm, [Prompt("a", "the", "the")])


def test_a_file_of_prompts(tmp_path):
    file = tmp_path / "mine.tsv"
    file.write_text("# mine\na cat gave\tdog\tthe\n\nto\tcat\n", encoding="utf-8")
    assert read_prompts(file) == (Prompt("a cat gave", "dog", "the"), Prompt("to", "cat", "the"))
    file.write_text("one column\n")
    with pytest.raises(BadInput, match=r"line 1 of .* expected prompt<TAB>answer<TAB>generic"):
        read_prompts(file)
    file.write_text("")
    with pytest.raises(BadInput, match="at least one line"):
        read_prompts(file)
    with pytest.raises(BadInput, match="a file that is there"):
        read_prompts(tmp_path / "none")


def test_scored_tokens_go_to_a_file_and_back(tmp_path):
    own = tokens()
    own.save(str(tmp_path))
    again = read_llama2c_tokens(tmp_path / "tokenizer.bin")
    assert (again.tokens, again.scores) == (own.tokens, own.scores)
    for text in ("the cat gave a dog", "Ünï", "a\nb", ""):
        ids = own.encode(text)
        assert ids[0] == 1 and again.encode(text) == ids and own.decode(ids) == text
    assert own.encode("the")[1:] == [own.tokens.index(b" the")]  # one piece, not its letters
    (tmp_path / "tokenizer.bin").write_bytes(struct.pack("<ifi", 5, 0.0, 999))
    with pytest.raises(BadInput, match="a token of 999 bytes"):
        read_llama2c_tokens(tmp_path / "tokenizer.bin")


def test_letters_win_over_raw_bytes_of_old_files():
    """Early files of llama2.c have bytes where later ones spell <0x2C>."""
    first = [b"<unk>", b"<s>", b"</s>", *(bytes([b]) for b in range(256))]
    old = ScoredTokens([*first, b",", b" "], [0.0] * 261)
    assert old.encode(",") == [1, 260, 259] and old.decode([1, 260, 259]) == ","
    assert old.encode("\n")[-1] == 3 + 10
