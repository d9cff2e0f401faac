"""The texts that the network of names learns from: exact offsets, a split that holds, and augmentation that keeps both.

    python -m pytest training/test_entities_data.py

With DATA_FOLDER set to the data folder, the real files are checked too.
"""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import entities_carriers as carriers
import entities_data as entities
import entities_names as names
from entities_text import IGNORE, TYPES, Example

FOLDER = os.environ.get("DATA_FOLDER")


def found(example: Example) -> list[tuple[str, str]]:
    return [(example.text[start:end], kind) for start, end, kind in example.spans]


def sound(example: Example) -> bool:
    """The spans are in order, inside of the text, apart from each other, and begin and end with a visible character."""
    ends = [0, *(end for _, end, _ in example.spans)]
    return all(
        before <= start < end <= len(example.text) and example.text[start:end].strip() == example.text[start:end] and kind in (*TYPES, IGNORE)
        for before, (start, end, kind) in zip(ends, example.spans, strict=False)
    )


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["It", "'s", "n't", ",", "is", "it", "?"], "It'sn't, is it?"),
        (["do", "n't", "(", "ever", ")", "say", '"', "no", '"', "."], 'don\'t (ever) say "no".'),
        (["RT", "@", "ann", ":", "hi", ":", ")"], "RT @ann: hi :)"),
        (["#", "Leeds", "is", "$", "5", "%", "&lt;", "3"], "#Leeds is $5% < 3"),
        (["the", "boys", "'", "and", "/", "or", "girls"], "the boys' and/or girls"),
    ],
)
def test_detokenised_reads_as_people_write(tokens, text):
    made, places = entities.detokenised(tokens)
    assert made == text
    assert all(made[start:end] == token.replace("&lt;", "<") for token, (start, end) in zip(tokens, places, strict=True))


def test_wikigold_joins_neighbours_and_masks_what_is_neither():
    row = {"id": "1", "tokens": ["German", "poet", "Ann", "Lee", "wrote", "Hope", "in", "English"], "tags": ["I-MISC", "O", "I-PER", "I-PER", "O", "I-MISC", "O", "O"]}
    assert found(entities.read_wikigold(row)) == [("German", "NRP"), ("Ann Lee", "PERSON"), ("Hope", IGNORE), ("English", IGNORE)]


def test_wnut17_leaves_products_and_user_names_out():
    row = {"id": "1", "tokens": ["@ann", "saw", "Bo", "Diddley", "on", "iTunes", "with", "Muse"], "tags": ["O", "O", "B-person", "I-person", "O", "B-product", "O", "B-group"]}
    example = entities.read_wnut17(row)
    assert found(example) == [("Bo Diddley", "PERSON"), ("Muse", "ORGANIZATION")]
    assert "NRP" not in example.known


def test_neighbours_that_begin_anew_stay_apart():
    row = {"id": "1", "tokens": ["Ann", "Bob", "Lee"], "tags": ["B-PER", "B-PER", "I-PER"]}
    assert found(entities.read_btc(row)) == [("Ann", "PERSON"), ("Bob Lee", "PERSON")]


def test_btc_has_user_names_where_the_sign_stands_alone():
    row = {"id": "1", "tokens": ["RT", "@", "ann", ":", "hi"], "tags": ["O", "B-PER", "B-PER", "O", "O"]}
    assert found(entities.read_btc(row)) == [("@ ann", "PERSON")]
    natural = entities.read_btc(row, natural=True)
    assert (natural.text, found(natural)) == ("RT @ann: hi", [("@ann", IGNORE)])


def test_pii_synthetic_keeps_what_patterns_do_not_find():
    template = next(n for n in range(100) if entities.split_of(str(n)) == "train")
    row = {"id": "1", "text": "Mr. Bo Lee, 4111111111111111, a Dane and not Danish", "spans": [[4, 10, "PERSON"], [0, 3, "PERSON"], [12, 28, "CREDIT_CARD"]], "template": template}
    assert found(entities.read_pii_synthetic(row)) == [("Mr.", IGNORE), ("Bo Lee", "PERSON"), ("Dane", IGNORE), ("Danish", IGNORE)]


@pytest.mark.parametrize(("word", "expected"), [("Polish", True), ("polish", False), ("german", True), ("MUSLIM", True), ("Turkey", False), ("liberal", False)])
def test_a_word_names_a_group_by_its_casing(word, expected):
    assert names.is_nrp(word) is expected


def test_the_split_is_the_committed_rule():
    assert [entities.split_of(words) for words in ("0", "3", "7", "11", "hello world")] == ["train", "dev", "test", "dev", "test"]


def test_generated_texts_are_sound_and_repeat_with_their_seed():
    texts = list(itertools.islice(carriers.generate(3), 3000))
    assert texts == list(itertools.islice(carriers.generate(3), 3000))
    assert texts[:50] != list(itertools.islice(carriers.generate(4), 50))
    assert [e for e in texts if not sound(e) or not e.text.strip()] == []
    assert [e.text for e in texts if re.search(r"\[\[|\{[a-z]+\}|\{[A-D][.}]", e.text)] == []
    assert {kind for e in texts for _, _, kind in e.spans} == {*TYPES, IGNORE}
    assert 0.25 < sum(not e.spans for e in texts) / len(texts) < 0.45


def test_generated_texts_repeat_in_another_process():
    program = "import itertools, entities_carriers as c; print([(e.text, e.spans) for e in itertools.islice(c.generate(7), 3000)])"
    outputs = {subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parent, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout for seed in "12"}
    assert len(outputs) == 1


def test_every_slot_of_every_template_exists():
    for templates in (*carriers.registers().values(), *carriers.nameless_templates().values(), carriers.FILLER):
        for template in templates:
            for name in carriers.SLOT.findall(template):
                assert carriers.slot(name, carriers.Scene(Random(1)))[0]


def test_templates_without_entities_have_none():
    for templates in (*carriers.nameless_templates().values(), carriers.FILLER):
        for template in templates:
            assert [name for name in carriers.SLOT.findall(template) if carriers.slot(name, carriers.Scene(Random(1)))[1]] == []


@pytest.mark.parametrize("change", [entities.lower, entities.upper, entities.title, entities.chat, entities.unpunctuated, entities.augmented])
def test_augmentation_keeps_the_entities(change):
    for example in itertools.islice(carriers.generate(7), 500):
        changed = change(example, Random(example.id))
        assert sound(changed)
        assert [(name.upper(), kind) for name, kind in found(changed)] == [(name.upper(), kind) for name, kind in found(example)]


def test_chat_shortens_words_but_not_names():
    example = Example("1", "x", "train", "I'm with Will You, please wait.", ((9, 17, "PERSON"),))
    assert found(entities.chat(example, Random(2)))[0][0].lower() == "will you"


def test_swapped_keeps_the_rest_and_the_casing():
    example = Example("1", "btc", "train", "saw ann lee and @bob in LEEDSX", ((4, 11, "PERSON"), (16, 20, "PERSON"), (24, 30, "LOCATION")))
    for seed in range(50):
        changed = entities.swapped(example, Random(seed))
        assert sound(changed)
        (person, _), (user, _), (place, _) = found(changed)
        assert changed.text == f"saw {person} and {user} in {place}"
        assert (person.islower(), user, place.isupper()) == (True, "@bob", True)


def test_joined_moves_the_spans():
    parts = list(itertools.islice(carriers.generate(9), 4))
    whole = entities.joined(parts, Random(1))
    assert sound(whole)
    assert found(whole) == [pair for part in parts for pair in found(part)]


@pytest.mark.skipif(not FOLDER, reason="DATA_FOLDER is not set")
def test_no_training_text_repeats_a_held_out_one():
    folder = Path(FOLDER)
    examples = entities.load(folder)
    held = entities.held_out(examples)
    generated = entities.without(itertools.islice(carriers.generate(1), 20_000), held)
    assert all(sound(e) for e in examples)
    assert not entities.leaks([*examples, *generated], folder)
    for source in ("wnut17", "btc", "wikigold", "pii_synthetic"):
        assert {e.split for e in examples if e.source == source} == {"train", "dev", "test"}
