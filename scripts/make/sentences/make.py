"""Writes sentences in many languages, to measure which of them package language recognises:

    .venv/bin/python scripts/make/sentences/make.py sentences.jsonl.gz

They are translations in two packages of requirements.txt: the messages of Django (BSD-3-Clause), as a program
addresses people, and the dialogues of chatterbot-corpus (BSD-3-Clause), as people chat. One JSON object per line:
`text`, of 10 to 200 characters; `language`, an ISO 639 code without a country; `source`. The order is fixed.
"""

import argparse
import gettext
import gzip
import html
import json
import re
from importlib.util import find_spec
from pathlib import Path

import yaml

# The language folders of chatterbot-corpus. Hinglish is Hindi in Latin letters and English: omitted.
DIALOGUES = {
    "bengali": "bn", "chinese": "zh", "dutch": "nl", "english": "en", "french": "fr", "german": "de", "hebrew": "he",
    "hindi": "hi", "indonesian": "id", "italian": "it", "japanese": "ja", "korean": "ko", "marathi": "mr",
    "oriya": "or", "persian": "fa", "portuguese": "pt", "russian": "ru", "spanish": "es", "swedish": "sv",
    "tamil": "ta", "telugu": "te", "thai": "th", "traditionalchinese": "zh", "turkish": "tr", "ukrainian": "uk",
    "urdu": "ur", "yoruba": "yo",
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the file to write, .jsonl.gz")
    args = parser.parse_args()
    seen = set()
    with gzip.open(args.out, "wt", encoding="utf-8") as out:
        for source, language, text in [*messages(), *dialogues()]:
            text = " ".join(text.split())
            if not 10 <= len(text) <= 200 or (language, text) in seen:
                continue
            seen.add((language, text))
            out.write(json.dumps({"text": text, "language": language, "source": source}, ensure_ascii=False) + "\n")


def package(name):
    return Path(find_spec(name).submodule_search_locations[0])


def messages():
    """Django's messages, without those that are untranslated or contain placeholders or markup."""
    for path in sorted(package("django").glob("**/locale/*/LC_MESSAGES/django.mo")):
        language = path.parts[-3].split("_")[0]
        if language == "en":
            continue
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog
        for key, text in sorted(catalog.items(), key=str):
            english = key[0] if isinstance(key, tuple) else key
            # "\x04" separates a context from its message.
            if not text or text == english.split("\x04")[-1] or re.search(r"[%{<]", text) or not english:
                continue
            yield "django", language, html.unescape(text)


def dialogues():
    """The lines of chatterbot-corpus, without those that a translation left in English."""
    english = set()
    for folder in sorted(DIALOGUES, key=lambda name: (name != "english", name)):
        for path in sorted((package("chatterbot_corpus") / "data" / folder).glob("*.yml")):
            with path.open(encoding="utf-8") as file:
                conversations = yaml.safe_load(file).get("conversations") or []
            for conversation in conversations:
                for line in conversation if isinstance(conversation, list) else [conversation]:
                    if not isinstance(line, str):
                        continue
                    if folder == "english":
                        english.add(line.strip().lower())
                    elif line.strip().lower() in english:
                        continue
                    yield "chatterbot", DIALOGUES[folder], line


if __name__ == "__main__":
    main()
