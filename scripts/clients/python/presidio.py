"""Presidio's own package for its anonymizer, on what this server's analyzer finds, and against this server's anonymizer."""

import os
import random

import requests
from presidio_anonymizer import AnonymizerEngine, DeanonymizeEngine
from presidio_anonymizer.entities import OperatorConfig, OperatorResult, RecognizerResult

SERVER = os.environ.get("SERVER", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "any")


def ask(route, **request):
    response = requests.post(f"{SERVER}/{route}", json=request, headers={"x-api-key": KEY})
    response.raise_for_status()
    return response.json()


text = "Zoë 😀 wrote from zoe@example.com, her SSN is 856-45-6789."
found = ask("analyze", text=text, language="en")
results = [RecognizerResult.from_json(entity) for entity in found]
masked = AnonymizerEngine().anonymize(text=text, analyzer_results=results)
assert masked.text == "<PERSON> 😀 wrote from <EMAIL_ADDRESS>, her SSN is <US_SSN>."
assert ask("anonymize", text=text, analyzer_results=found)["text"] == masked.text

# Whatever one of the two encrypts, the other one decrypts.
secret = {"type": "encrypt", "key": "WmZq4t7w!z%C&F)J"}
opened = {"type": "decrypt", "key": "WmZq4t7w!z%C&F)J"}
theirs = AnonymizerEngine().anonymize(text, results, {"DEFAULT": OperatorConfig.from_json(dict(secret))})
items = [dict(start=i.start, end=i.end, entity_type=i.entity_type) for i in theirs.items]
assert ask("deanonymize", text=theirs.text, deanonymizers={"DEFAULT": opened}, anonymizer_results=items)["text"] == text
ours = ask("anonymize", text=text, anonymizers={"DEFAULT": secret}, analyzer_results=found)
items = [OperatorResult.from_json(i) for i in ours["items"]]
assert DeanonymizeEngine().deanonymize(ours["text"], items, {"DEFAULT": OperatorConfig.from_json(dict(opened))}).text == text

# On random entities both answer the same: text, items and their order. Left out are those
# where entities of different types still overlap when conflicts are resolved: Presidio
# gives what they share to both operators, this server to the second one.
OPERATORS = [
    {"type": "replace"}, {"type": "replace", "new_value": "ö"}, {"type": "redact"}, {"type": "keep"},
    {"type": "mask", "masking_char": "*", "chars_to_mask": 3, "from_end": True}, {"type": "mask", "masking_char": "€", "chars_to_mask": 0, "from_end": False},
    {"type": "hash", "hash_type": "sha512", "salt": "1234567890123456"}, {"type": "hash", "salt": "1234567890123456"},
]
random.seed(20)
engine, compared = AnonymizerEngine(), 0
for _ in range(400):
    text = "".join(random.choices("ab  ö😀", k=random.randint(1, 24)))
    entities = []
    for _ in range(random.randint(0, 6)):
        start = random.randrange(len(text))
        end = min(start + random.randint(1, 8), len(text))
        entities.append({"entity_type": random.choice("AB"), "start": start, "end": end, "score": random.random()})
    operators = {t: random.choice(OPERATORS) for t in random.sample(["A", "B", "DEFAULT"], random.randint(0, 3))}
    theirs = engine.anonymize(text, [RecognizerResult.from_json(e) for e in entities], {t: OperatorConfig.from_json(dict(o)) for t, o in operators.items()})
    parts = engine._merge_entities_with_spaces_between(text, engine._remove_conflicts_and_get_text_manipulation_data(
        sorted([RecognizerResult.from_json(e) for e in entities], key=lambda e: (e.start, e.end)), None))
    parts.sort(key=lambda e: e.start)
    if any(a.end > b.start for a, b in zip(parts, parts[1:])):
        continue
    ours = ask("anonymize", text=text, anonymizers=operators, analyzer_results=entities)
    want = {"text": theirs.text, "items": [{k: v for k, v in i.to_dict().items() if k != "score"} for i in theirs.items]}
    assert ours == want, f"{text!r} {entities} {operators}:\n{ours}\n{want}"
    compared += 1
assert compared > 200, f"only {compared} requests were compared"
