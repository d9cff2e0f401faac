"""Generated texts with entities, of many registers, and texts without any that look as if they had some.

A template is text with slots. {person} is an entity; {A} is a person who has the same name in the whole text, with {A.first}, {A.last},
{A.email}, {A.user}; {phone} and the like are what patterns find and the network must not name. [[a|b]] is a choice, and may hold slots. Each template
is ours: none is taken from the files. Titles ("Dr.") are outside of a PERSON; a LOCATION or ORGANIZATION starts
after "the"; an ADDRESS holds its town, postcode and country.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

import entities_names as names
import entities_things as things
from entities_templates import CARRIERS, FILLERS, NEGATIVES
from entities_text import IGNORE, Builder, Example

CHOICE = re.compile(r"\[\[([^\[\]]*)\]\]")
SLOT = re.compile(r"\{([A-Za-z0-9_.]+)\}")


@dataclass
class Scene:
    """The people of one text, by the letter that its templates use."""

    rng: Random
    people: dict[str, tuple[str, str]] = field(default_factory=dict)
    masked: float = 0.0  # the share of entities that are masked already
    mask: str = ""  # what stands in their place; {} is the type

    def person(self, letter: str) -> tuple[str, str]:
        if letter not in self.people:
            self.people[letter] = names.person(self.rng)
        return self.people[letter]


def fill(template: str, scene: Scene, builder: Builder) -> None:
    """Appends template with its choices made and its slots filled."""
    rng = scene.rng
    while CHOICE.search(template):
        template = CHOICE.sub(lambda match: rng.choice(match[1].split("|")), template)
    pieces = SLOT.split(template)
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            builder.add(piece)
            continue
        text, kind = slot(piece, scene)
        if kind and kind != IGNORE and rng.random() < scene.masked:
            text, kind = scene.mask.format(kind), None
        if re.match(r"[AEIO](?!u)|U[^gknrs]", text) and builder.pieces[-1].endswith((" a ", "\na ")):
            builder.amend("n ")
        if kind in ("LOCATION", "ORGANIZATION") and text.startswith("the "):
            text = text[4:]
            before = "".join(builder.pieces[-2:])[-3:]
            if not before or before.endswith((". ", "! ", "? ")):
                builder.add("The ")
            elif re.search(r"\w,? $", before):  # not in a form or a list
                builder.add("the ")
        builder.add(text, kind)
        if pieces[i - 1] == " " and kind == "PERSON":
            builder.join()


def slot(name: str, scene: Scene) -> tuple[str, str | None]:
    """The text of a slot and its type, or None for what is no entity."""
    rng = scene.rng
    letter, _, part = name.partition(".")
    if len(letter) == 1 and letter.isupper():
        first, last = scene.person(letter)
        if part == "first":
            return first, "PERSON"
        if part == "last":
            return last, "PERSON"
        if part == "comma":
            return f"{last}, {first}", "PERSON"
        if part == "upper":
            return f"{first} {last}".upper(), "PERSON"
        if part == "short":
            return f"{first[0]}. {last}", "PERSON"
        if part == "email":
            return email(rng, first, last), None
        if part == "user":
            return user_name(rng, first, last), None
        return f"{first} {last}", "PERSON"
    return SLOTS[name](rng)


def _ascii(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower()) or "user"


def user_name(rng: Random, first: str, last: str) -> str:
    a, b = _ascii(first), _ascii(last)
    return rng.choice([f"{a[0]}{b}", f"{a}.{b}", f"{a}_{b}", f"{a}{b[0]}{rng.randint(1, 99)}", f"{b}{a[0]}", f"{a}{rng.randint(10, 99)}"])


def email(rng: Random, first: str, last: str) -> str:
    domain = rng.choice(["example.com", "example.org", "example.net", "gmail.com", "yahoo.com", "outlook.com", "hotmail.co.uk", "web.de", "company.test", f"{rng.choice(names.COINED).lower()}{rng.choice(names.TAILS)}.com"])
    return f"{rng.choice([_ascii(first) + '.' + _ascii(last), _ascii(first)[0] + _ascii(last), _ascii(first) + str(rng.randint(1, 99)), 'info', _ascii(last) + '_' + _ascii(first)])}@{domain}"


MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def date(rng: Random) -> str:
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1940, 2026)
    name = MONTHS[month - 1]
    return rng.choice(
        [f"{month}/{day}/{year}", f"{day:02}/{month:02}/{year}", f"{year}-{month:02}-{day:02}", f"{name} {day}, {year}", f"{day} {name} {year}", f"{day}.{month}.{year}", f"{name[:3]} {day}", f"{day} {name[:3]} {year}", f"{name} {year}", f"{rng.choice(WEEKDAYS)}, {name} {day}", f"{day}th of {name}", f"{month:02}/{year % 100:02}"]
    )


def phone(rng: Random) -> str:
    return names.digits(rng, rng.choice(["(###) ###-####", "###-###-####", "+1 ### ### ####", "+44 20 #### ####", "07### ######", "+49 30 #######", "0## ### ## ##", "+33 6 ## ## ## ##", "###.###.####", "+91 9#### #####", "(0##) ####-####", "###-####", "001-###-###-####x###", "+46 70-### ## ##"]))


def plain(text: str) -> tuple[str, None]:
    return text, None


def _person_form(rng: Random) -> tuple[str, str]:
    """A person as somebody writes of them, mostly in full."""
    first, last = names.person(rng)
    p = rng.random()
    if p < 0.68:
        return names.written(first, last, rng), "PERSON"
    if p < 0.88:
        return first, "PERSON"
    return (rng.choice(names.NICKNAMES) if p < 0.93 else last), "PERSON"


def _family(last: str) -> str:
    """The name of all who bear it: the Joneses, the Okafors."""
    return last + ("es" if last.endswith(("s", "x", "z", "ch", "sh")) else "s")


TITLES = "Mr. Mr Mrs. Mrs Ms. Ms Miss Dr. Dr Prof. Professor Sir Dr.".split()
ROLES = "manager nurse teacher engineer accountant driver lawyer receptionist supervisor director consultant plumber electrician cook student tenant landlord analyst designer developer officer clerk cashier technician therapist surgeon pharmacist dentist coach editor producer".split()
JOBS = "Senior Accountant|Project Manager|Head of Sales|Software Engineer|Chief Financial Officer|HR Business Partner|Marketing Director|Registered Nurse|Customer Success Manager|Legal Counsel|Data Analyst|Office Manager|Managing Director|CTO|CEO|VP Engineering|Team Lead|Research Assistant|Attorney at Law|Product Owner|Professor of Physics".split("|")
PRODUCTS = "iPhone 13|Galaxy S22|PlayStation 5|ThinkPad X1|Model Y|Windows 11|Office 365|Photoshop|Excel|Chrome|Kindle|Roomba|Xbox|MacBook Air|Pixel 7|Surface Pro|Air Max 90|Civic|Corolla|Golf GTI|Echo Dot|Switch|Raspberry Pi|GeForce RTX 3080".split("|")
WORKS = "Bohemian Rhapsody|The Great Gatsby|Breaking Bad|Minecraft|Call of Duty|The Witcher 3|Animal Crossing|War and Peace|Hotel California|Yesterday|Stranger Things|The Office|Mario Kart|Fortnite|Jane Eyre|Emma|Carrie|Frozen|Titanic|Psycho|Jolene|Billie Jean|Roxanne|Eleanor Rigby|Macbeth|Hamlet".split("|")
SUBJECTS = "the invoice|the delivery|my order|the contract|the new policy|the budget|the appointment|the test results|the booking|the refund|the lease|the report|the meeting|the interview|the shipment|the password reset|the repair|the payment|the quarterly figures|the school trip".split("|")
LANGUAGES = "Python|Java|Rust|Go|JavaScript|Ruby|Swift|Kotlin|Julia|Perl|Scala|Haskell|Ada|Pascal|R|C++|TypeScript|Elixir|Crystal|Dart".split("|")
TOOLS = "Jenkins|Docker|Kubernetes|Redis|Kafka|Postgres|Apache|Nginx|Maven|Gradle|Ansible|Terraform|Grafana|Prometheus|Spark|Hadoop|Cassandra|Django|Flask|Rails|Spring|Hibernate|Celery|Sidekiq|Vagrant|Puppet|Chef|Travis|Athena|Delta Lake|Jasmine|Hugo|Jekyll|Lambda|Athena|Aurora|Babel|Bert|Claude|Llama|Gemma|Mistral|Falcon|Alexa|Siri|Cortana|Watson".split("|")

NOUNS = (
    "account action address agent alarm amount answer apple archive area arrow article balance basket battery bench bicycle block board body book border bottle branch bridge buffer button cable cache camera candle carbon card carpet case cell chain chair channel charge chart circle client clock cloud code coffee column comment "
    "contract copper cotton counter cover credit cursor curve cycle data deposit desk device digit dinner disk document door draft drawer driver echo edge editor element engine entry error event exit factor feature field file filter finger flag floor flower folder forest form frame function garden gate glass graph grid group guard guide "
    "hammer handle handler header heart helper history holiday hook host house image index input insect invoice iron island item jacket job journal key kitchen label ladder lamp language layer leaf lens letter level lever library light limit line link list lock log loop machine magnet map market mask matrix meal measure memory menu message "
    "meter method mirror mode model module motor mountain mouse network node note notice number object ocean offer office option orange order output owner packet page paint panel paper parser part pattern payment pencil permit phase photo piece pipe plan planet plate plugin pocket point policy pool port power price printer process product "
    "profile project proxy pump query queue radio rain range rate reader record region release rent report request result ring river road rock role roof room root route rule sale sample scale schedule school scope screen script season seat section seed sensor server service session shadow sheet shelf shell ship signal silver size sketch smoke "
    "snow socket soil source space speed spring stack stage state station steel step stone storage storm stream string sugar switch symbol system table tablet tail target task team temperature test text theme thread ticket tile timer token tool topic tower track trade train tree trigger trunk tunnel type unit update user valley value valve "
    "vector version video view village voice volume wagon wall warehouse water wave weather weight wheel widget window winter wire wood worker yard zone"
).split()
PARTS = "get set new old max min is has can do make read write open close load save parse find add my base default internal async raw".split()


def _camel(rng: Random) -> str:
    """A name as programs have it; now and then with a person's or a town's name in it."""
    words = rng.choices(NOUNS, k=rng.choice([1, 2, 2, 3]))
    if rng.random() < 0.06:
        words[0] = rng.choice(rng.choice([names.pool("classic")[0], names.TOWNS])).replace(" ", "").lower()
        words.append(rng.choice(NOUNS))
    return "".join(word.capitalize() for word in words)


def _snake(rng: Random) -> str:
    words = rng.choices(NOUNS, k=rng.choice([1, 1, 2]))
    if rng.random() < 0.3:
        words.insert(0, rng.choice(PARTS))
    if rng.random() < 0.04:
        words = [rng.choice(names.pool("classic")[0]).lower(), rng.choice(NOUNS)]
    return rng.choice(["_", "_", "_", "-", ""]).join(words) if len(words) < 3 else "_".join(words)


SLOTS = {
    "word": lambda rng: plain(rng.choice(NOUNS)),
    "Word": lambda rng: plain(rng.choice(NOUNS).capitalize()),
    "camel": lambda rng: plain(_camel(rng)),
    "snake": lambda rng: plain(_snake(rng)),
    "const": lambda rng: plain(_snake(rng).upper().replace("-", "_")),
    "person": _person_form,
    "full": lambda rng: (names.written(*names.person(rng), rng), "PERSON"),
    "first": lambda rng: (names.person(rng)[0], "PERSON"),
    "last": lambda rng: (names.person(rng)[1], "PERSON"),
    "nick": lambda rng: (rng.choice(names.NICKNAMES), "PERSON"),
    "common": lambda rng: (rng.choice(names.pool("classic")[0]), "PERSON"),
    "wordname": lambda rng: (rng.choice(names.WORD_NAMES), "PERSON"),
    "wordlast": lambda rng: (rng.choice(names.WORD_SURNAMES), "PERSON"),
    "families": lambda rng: (_family(names.person(rng)[1]), "PERSON"),
    "comma": lambda rng: ("{1}, {0}".format(*names.person(rng)) + rng.choice(["", "", "", f" {rng.choice('ABCDEJKLMRST')}."]), "PERSON"),
    "uppername": lambda rng: ("{0} {1}".format(*names.person(rng)).upper(), "PERSON"),
    "lowername": lambda rng: ("{0} {1}".format(*names.person(rng)).lower(), "PERSON"),
    "lowerfirst": lambda rng: (names.person(rng)[0].lower(), "PERSON"),
    "loc": lambda rng: (names.location(rng), "LOCATION"),
    "city": lambda rng: (names.town_name(rng), "LOCATION"),
    "country": lambda rng: (rng.choice(names.COUNTRIES), "LOCATION"),
    "state": lambda rng: (rng.choice(names.STATES), "LOCATION"),
    "landmark": lambda rng: (rng.choice(names.LANDMARKS), "LOCATION"),
    "lowercity": lambda rng: (names.town_name(rng).lower(), "LOCATION"),
    "addr": lambda rng: (names.address(rng, rng.choice([", ", ", ", ", ", ", ", ", ", ", ", " ", ",", "\n"])), "ADDRESS"),
    "addrlines": lambda rng: (names.address(rng, rng.choice(["\n", "\n", "\n", ",\n", "\n  ", " / "])), "ADDRESS"),
    "street": lambda rng: (rng.choice([f"{names.number(rng)} {names.english_street(rng)}", names.foreign_street(rng)]), "ADDRESS"),
    "streetname": lambda rng: (names.english_street(rng), "ADDRESS"),
    "postcode": lambda rng: (names.postcode(rng, rng.choice(["us", "gb", "de", "ca", "nl", "in"])), "ADDRESS"),
    "org": lambda rng: (names.organization(rng), "ORGANIZATION"),
    "lowerorg": lambda rng: (rng.choice([names.organization, names.shop])(rng).lower(), "ORGANIZATION"),
    "shop": lambda rng: (names.shop(rng), "ORGANIZATION"),
    "church": lambda rng: (names.church(rng), "ORGANIZATION"),
    "clinic": lambda rng: (names.clinic(rng), "ORGANIZATION"),
    "school": lambda rng: (names.school(rng), "ORGANIZATION"),
    "foreignorg": lambda rng: (names.foreign_organization(rng), "ORGANIZATION"),
    "nation": lambda rng: (rng.choice(names.NATIONALITIES), "NRP"),
    "people": lambda rng: (rng.choice(names.ETHNIC), "NRP"),
    "nrps": lambda rng: (rng.choice(rng.choice([names.PEOPLES, names.PEOPLES, names.BELIEVERS, names.POLITICIANS])), "NRP"),
    "member": lambda rng: (rng.choice(names.MEMBERS), "NRP"),
    "party": lambda rng: (rng.choice(names.POLITICAL), "NRP"),
    "faith": lambda rng: (rng.choice(names.RELIGIOUS), "NRP"),
    "title": lambda rng: plain(rng.choice(TITLES)),
    "honorific": lambda rng: plain(rng.choice(names.HONORIFICS)),
    "elder": lambda rng: plain(rng.choice(names.ELDERS)),
    "role": lambda rng: plain(rng.choice(ROLES)),
    "job": lambda rng: plain(rng.choice(JOBS)),
    "product": lambda rng: plain(rng.choice(PRODUCTS)),
    "work": lambda rng: plain(rng.choice(WORKS)),
    "subject": lambda rng: plain(rng.choice(SUBJECTS)),
    "lang": lambda rng: plain(rng.choice(LANGUAGES)),
    "tool": lambda rng: plain(rng.choice(TOOLS)),
    "date": lambda rng: plain(date(rng)),
    "time": lambda rng: plain(rng.choice(["{}:{:02}", "{}:{:02} pm", "{}.{:02}", "0{}:{:02}:17", "{}:{:02}am"]).format(rng.randint(1, 9), rng.randint(0, 59))),
    "stamp": lambda rng: plain(f"{rng.randint(2015, 2026)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}{rng.choice(' T')}{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}{rng.choice(['', 'Z', ',' + str(rng.randint(100, 999)), '.' + str(rng.randint(100, 999)), '+00:00'])}"),
    "year": lambda rng: plain(str(rng.randint(1950, 2026))),
    "past": lambda rng: plain(str(rng.randint(1500, 1950))),
    "bp": lambda rng: plain(f"{rng.randint(90, 190)}/{rng.randint(50, 110)}"),
    "month": lambda rng: plain(rng.choice(MONTHS)),
    "day": lambda rng: plain(rng.choice(WEEKDAYS)),
    "dom": lambda rng: plain(str(rng.randint(1, 28))),
    "age": lambda rng: plain(str(rng.randint(1, 99))),
    "phone": lambda rng: plain(phone(rng)),
    "email": lambda rng: plain(email(rng, *names.person(rng))),
    "user": lambda rng: plain(user_name(rng, *names.person(rng))),
    "mention": lambda rng: ("@" + user_name(rng, *names.person(rng)), IGNORE),  # as in the files, which disagree
    "at": lambda rng: ("@" + names.person(rng)[0], "PERSON"),
    "url": lambda rng: plain(rng.choice(["https://", "http://", "www.", ""]) + rng.choice(["example.com", "example.org", "shop.example.net", f"{rng.choice(names.COINED).lower()}{rng.choice(names.TAILS)}.com"]) + rng.choice(["", "/", "/help", "/user/profile?id=17", "/p/" + names.digits(rng, "~~##~")])),
    "card": lambda rng: plain(names.digits(rng, rng.choice(["4### #### #### ####", "5###############", "4###-####-####-####", "3### ###### #####", "4###############"]))),
    "iban": lambda rng: plain(names.digits(rng, rng.choice(["DE## #### #### #### #### ##", "GB##????##############", "FR################?####", "ES######################", "NL##????##########"]))),
    "ssn": lambda rng: plain(names.digits(rng, rng.choice(["###-##-####", "###-##-####", "### ## ####", "#########"]))),
    "ip": lambda rng: plain(rng.choice([".".join(str(rng.randint(1, 254)) for _ in range(4)), names.digits(rng, "2001:db8::#:~##")])),
    "order": lambda rng: plain(names.digits(rng, rng.choice(["#####", "ORD-######", "??-####-##", "#######", "INV-20##-####", "#?######", "?? ### ###"]))),
    "num": lambda rng: plain(str(rng.choice([rng.randint(0, 9), rng.randint(10, 99), rng.randint(100, 99999)]))),
    "few": lambda rng: plain(str(rng.randint(2, 48))),
    "float": lambda rng: plain(f"{rng.uniform(0, 200):.{rng.randint(1, 4)}f}"),
    "amount": lambda rng: plain(rng.choice(["${:,.2f}", "€{:.2f}", "£{:,.0f}", "{:.2f} EUR", "{:,.0f} USD", "$ {:.0f}", "Rs. {:,.0f}"]).format(rng.uniform(3, 20000))),
    "version": lambda rng: plain(f"{rng.randint(0, 20)}.{rng.randint(0, 30)}.{rng.randint(0, 12)}{rng.choice(['', '', '-rc1', 'b2', '+build.5'])}"),
    "hex": lambda rng: plain(f"{rng.getrandbits(64):016x}"[: rng.choice([7, 8, 12, 16])]),
    "uuid": lambda rng: plain("-".join(f"{rng.getrandbits(4 * n):0{n}x}" for n in (8, 4, 4, 4, 12))),
    "key": lambda rng: plain(rng.choice(["AKIA" + names.digits(rng, "????##???###??#?"), "sk_test_" + names.digits(rng, "~#~~#~#~~#~#~~##"), "ghp_" + names.digits(rng, "~#?~#?~#?~#?~#?~#?")])),
    "mrn": lambda rng: plain(names.digits(rng, rng.choice(["########", "MRN ######", "MRN-#######"]))),
    **{kind: (lambda rng, words=words: plain(rng.choice(words))) for kind, words in things.NAMESAKES.items()},
}


@lru_cache
def registers() -> dict[str, tuple[str, ...]]:
    """The templates of each register; a template of several lines is one entry between lines of ---."""
    return {name: split(text) for name, text in CARRIERS.items()}


def split(text: str) -> tuple[str, ...]:
    """Templates divided by lines of ---, or else one a line."""
    if "\n---\n" in text:
        return tuple(part.strip("\n") for part in text.split("\n---\n"))
    return tuple(line.strip() for line in text.strip().splitlines())


@lru_cache
def nameless_templates() -> dict[str, tuple[str, ...]]:
    """The templates of texts that name nobody, by register."""
    return {name: split(text) for name, text in NEGATIVES.items()}


FILLER = split(FILLERS)
# Registers whose templates are sentences that may follow each other in a paragraph.
SENTENCES = frozenset({"chat", "email", "support", "bank", "travel", "news", "legal", "medical", "hr", "social", "groups", "organisations", "places", "everyday", "addresses", "questions", "narratives", "police", "school", "reviews", "academic", "terse", "relations", "wordnames", "references", "businesses", "peoples"})
# Registers without entities whose templates are lines of a file or a terminal.
LINES = frozenset({"code", "logs", "config", "shell", "numbers", "blocks", "programs"})
PLAIN_SHARE = 0.33
# Of texts that entities_things.py makes.
THINGS_SHARE = 0.1
# Text that was masked once is masked again by somebody: nothing must be found in the masks.
MASKED_SHARE = 0.05
MASKS = ("<{}>", "<{}>", "<{}>", "", "", "[{}]", "[REDACTED]", "****", "[NAME]", "XXXX", "████", "***", "<{}_1>", "{{{}}}", "[removed]")


def generate(seed: int) -> Iterator[Example]:
    """Texts without end, the same for the same seed. About a third has no entity."""
    rng = Random(seed)
    carriers, nameless = registers(), nameless_templates()
    names_of = list(carriers)
    weights = [max(4, len(carriers[name])) ** 0.75 * (1.6 if name not in SENTENCES else 1) for name in names_of]
    plain_names = list(nameless)
    plain_weights = [len(nameless[name]) ** 0.75 for name in plain_names]
    number = 0
    while True:
        if rng.random() < THINGS_SHARE:
            builder = Builder()
            things.write(rng, builder)
            yield Example(f"generated-{seed}-{number}", "generated/things", "train", builder.text(), tuple(builder.spans))
            number += 1
        builder, scene = Builder(), Scene(rng)
        if rng.random() < MASKED_SHARE:
            scene.masked, scene.mask = rng.choice([1.0, 1.0, 0.5]), rng.choice(MASKS)
        if rng.random() < PLAIN_SHARE:
            register = rng.choices(plain_names, plain_weights)[0]
            lines = register in LINES
            _sequence(nameless[register], rng.choice([1, 1, 2, 3, 5] if lines else [1, 1, 1, 2, 3]), "\n" if lines else " ", 0.0 if lines else 0.15, scene, builder)
        else:
            register = rng.choices(names_of, weights)[0]
            if register in SENTENCES:
                _sequence(carriers[register], rng.choice([1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 7]), rng.choice([" ", " ", " ", "\n", "\n\n"]), 0.3, scene, builder)
            elif register == "rows":
                _rows(rng.choice(carriers[register]), rng.randint(1, 7), scene, builder)
            else:
                fill(rng.choice(carriers[register]), scene, builder)
        text = builder.text()
        if text.strip():  # a name alone that was removed leaves nothing
            yield Example(f"generated-{seed}-{number}", f"generated/{register}", "train", text, tuple(builder.spans))
            number += 1


def _sequence(templates: tuple[str, ...], count: int, glue: str, filler: float, scene: Scene, builder: Builder) -> None:
    """count different templates after one another, with sentences that name nothing among them."""
    rng = scene.rng
    chosen = rng.sample(templates, min(count, len(templates)))
    for template in chosen:
        if rng.random() < filler / (2 if count == 1 else 1):
            _add(rng.choice(FILLER), glue, scene, builder)
        _add(template, glue, scene, builder)
        if rng.random() < 0.5:
            scene.people.clear()
    if rng.random() < filler:
        _add(rng.choice(FILLER), glue, scene, builder)


def _add(template: str, glue: str, scene: Scene, builder: Builder) -> None:
    if builder.size:
        builder.add(glue)
    fill(template, scene, builder)


def _rows(template: str, count: int, scene: Scene, builder: Builder) -> None:
    """A table: the template's first lines are its head, its last line is the row that is repeated with other people."""
    head, _, row = template.rpartition("\n")
    if head and scene.rng.random() < 0.8:
        builder.add(head + "\n")
    for i in range(count):
        scene.people.clear()
        fill(row, scene, builder)
        builder.add("\n" if i + 1 < count else "")
