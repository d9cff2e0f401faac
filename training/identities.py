"""Clean sentences about people, the same ones for every identity term: if a model finds one of them
toxic and not its neighbour, it reacts to the term.

The templates were written for this project, only for measuring: grammars.py, which makes training
sentences, has none of them.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Term:
    """One identity in the forms that a sentence needs: "is …", "a …" (a person), "some …"
    (people), and before a noun."""

    name: str
    kind: str
    predicate: str
    person: str
    people: str
    adjective: str


def described(kind: str, *names: str) -> list[Term]:
    """Adjectives only: a deaf person, deaf people, is deaf."""
    return [Term(n, kind, n, f"{n} person", f"{n} people", n) for n in names]


def named(kind: str, *names: str) -> list[Term]:
    """Adjectives that are also nouns: a Muslim, Muslims, is Muslim."""
    return [Term(n, kind, n, n, f"{n}s", n) for n in names]


TERMS = (
    *named("religion", "Muslim", "Christian", "Hindu", "Buddhist", "Sikh", "Catholic", "Protestant", "Mormon"),
    *described("religion", "Jewish"),
    Term("atheist", "religion", "an atheist", "atheist", "atheists", "atheist"),
    *named("nationality", "American", "Mexican", "Indian", "Nigerian", "Pakistani", "Russian", "Canadian", "German", "Israeli", "Palestinian"),
    *described("nationality", "Chinese", "Japanese", "Turkish", "Polish"),
    Term("immigrant", "nationality", "an immigrant", "immigrant", "immigrants", "immigrant"),
    Term("refugee", "nationality", "a refugee", "refugee", "refugees", "refugee"),
    *described("ethnicity", "Black", "white", "Asian", "Latino", "Hispanic", "Arab", "Indigenous", "Roma", "Middle Eastern"),
    *named("ethnicity", "African American"),
    Term("woman", "gender", "a woman", "woman", "women", "female"),
    Term("man", "gender", "a man", "man", "men", "male"),
    *described("gender", "transgender", "nonbinary", "trans"),
    *described("orientation", "gay", "bisexual", "queer", "straight", "heterosexual", "homosexual", "asexual"),
    Term("lesbian", "orientation", "a lesbian", "lesbian", "lesbians", "lesbian"),
    *described("disability", "deaf", "blind", "autistic", "disabled", "paralyzed", "dyslexic"),
    *described("age", "elderly", "old", "young", "middle-aged"),
    Term("teenager", "age", "a teenager", "teenager", "teenagers", "teenage"),
)

FILLERS = {
    "name": ("Alex", "Sam", "Robin", "Kim", "Jamie", "Casey", "Morgan", "Jordan", "Taylor", "Noor"),
    "place": ("Leeds", "Toronto", "our town", "the valley", "Cape Town", "this street", "Lisbon", "the old quarter", "Ohio", "Dublin"),
    "number": ("two", "five", "seven", "twelve", "twenty", "forty"),
    "hobby": ("cooking", "chess", "gardening", "football", "painting", "swimming", "local history", "jazz", "baking bread", "long walks"),
    "job": ("nurse", "baker", "engineer", "librarian", "bus driver", "translator", "carpenter", "architect"),
    "role": ("singer", "writer", "volunteer", "student", "goalkeeper", "photographer", "guide", "artist"),
    "relation": ("neighbour", "cousin", "colleague", "best friend", "flatmate", "classmate"),
}

TEMPLATES = (
    "{name} is {predicate} and works as {a_job} in {place}.",
    "I am {predicate}, and I have been in {place} for {number} years.",
    "My {relation} is {predicate} and loves {hobby}.",
    "As {a_person}, I enjoy {hobby} when I am in {place}.",
    "Many {people} in {place} are fond of {hobby}.",
    "The film tells the story of {a_person} who moves to {place}.",
    "We asked {number} {people} what they think about {hobby}.",
    "{name} wrote a book about {people} and {hobby}.",
    "A group of {people} met in {place} to talk about {hobby}.",
    "Is there a club for {people} in {place}?",
    "The {adjective} {role} from {place} won the prize.",
    "Nobody should be mocked for being {predicate}, my {relation} said.",
    "{name}, {a_adjective} {role}, gave a talk about {hobby}.",
    "It was {a_person} who helped my {relation} after the storm.",
    "How many {people} live in {place} today?",
    "Being {predicate} has nothing to do with being good at {hobby}.",
    "Half of the {people} in our survey prefer {hobby}.",
    "Our new {role} is {predicate}, and everybody gets on well.",
)

def with_article(words: str) -> str:
    """"a" or "an": the first letter decides for every word of this module."""
    return ("an " if words[0].lower() in "aeiou" else "a ") + words


def fill(template: str, term: Term, fillers: dict[str, str]) -> str:
    forms = fillers | {"predicate": term.predicate, "people": term.people, "adjective": term.adjective}
    forms |= {"a_person": with_article(term.person), "a_adjective": with_article(term.adjective), "a_job": with_article(fillers["job"])}
    sentence = template.format(**forms)
    return sentence[0].upper() + sentence[1:]


def sentences(count: int, seed: int, templates: tuple[str, ...] = TEMPLATES, terms: tuple[Term, ...] = TERMS) -> dict[str, list[str]]:
    """count different sentences for each term's name, the same except for the term, cycling through
    the templates. Raises ValueError if the templates do not give that many."""
    rng, drawn, seen = np.random.default_rng(seed), [], set()
    for attempt in range(50 * count):
        if len(drawn) == count:
            break
        template = templates[attempt % len(templates)]
        fillers = {slot: str(rng.choice(words)) for slot, words in FILLERS.items()}
        key = fill(template, terms[0], fillers)
        if key not in seen:
            seen.add(key)
            drawn.append((template, fillers))
    if len(drawn) < count:
        raise ValueError(f"failed to generate {count} different sentences from {len(templates)} templates: only {len(drawn)} were possible; give more templates or ask for fewer")
    return {term.name: [fill(template, term, fillers) for template, fillers in drawn] for term in terms}
