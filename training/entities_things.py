"""Tables of things with capitals that are nobody's names, many of which are also given names: flowers, foods, colours,
stones, animals, libraries, versions of products. And tables with columns of names, so that the form of a text decides nothing."""

from random import Random

import entities_names as names
from entities_text import Builder

THINGS = {
    "plant": "Rose Lily Violet Ivy Heather Iris Daisy Poppy Jasmine Hazel Holly Fern Laurel Myrtle Olive Rosemary Basil Sage Clover Dahlia Aster Marigold Zinnia Petunia Begonia Camellia Magnolia Gardenia Azalea Primrose Tulip Orchid Lavender Peony Hyacinth Fuchsia Geranium Lobelia Verbena Cosmos Anemone Erica Veronica Angelica Amaryllis Forsythia Wisteria Clematis Honeysuckle Chrysanthemum Delphinium Freesia Gladiolus Hibiscus Hosta Hydrangea Lupin Narcissus Pansy Salvia Sedum Snapdragon Yarrow Ash Birch Cedar Elm Linden Maple Rowan Willow Juniper Cypress Alder Aspen Beech Cherry Hawthorn".split(),
    "food": "Apricot|Aubergine|Basmati|Brie|Camembert|Cheddar|Gouda|Gruyère|Manchego|Mozzarella|Parmesan|Ricotta|Roquefort|Stilton|Celery|Chicory|Coriander|Cumin|Dill|Endive|Fennel|Garlic|Ginger|Kale|Leek|Marjoram|Mint|Nutmeg|Oregano|Paprika|Parsley|Pepper|Saffron|Sorrel|Tarragon|Thyme|Turmeric|Vanilla|Clementine|Damson|Fig|Lychee|Mango|Medlar|Melba|Papaya|Peach|Pear|Plum|Quince|Satsuma|Sultana|Bramley|Granny Smith|Golden Delicious|Pink Lady|Cox|Maris Piper|King Edward|Charlotte|Desiree|Chardonnay|Merlot|Pinot Noir|Riesling|Shiraz|Earl Grey|Darjeeling|Assam|Oolong|Espresso|Mocha|Caesar salad|Eggs Benedict|Beef Wellington|Victoria sponge|Battenberg|Madeira|Madeleine|Margherita|Napoli|Bolognese|Carbonara|Alfredo|Arrabbiata|Jalapeño|Sriracha|Tabasco|Wasabi|Miso|Tofu|Tempeh|Hummus|Tahini|Pesto".split("|"),
    "colour": "Amber Azure Beige Cerise Champagne Chestnut Cobalt Coral Crimson Cyan Ebony Emerald Fuchsia Indigo Ivory Jade Khaki Lilac Magenta Maroon Mauve Ochre Olive Peach Periwinkle Rust Sable Saffron Salmon Scarlet Sienna Silver Tan Teal Turquoise Umber Vermilion Viridian White Black Grey Rose Ruby Raven Ash Burgundy Lavender Midnight Pearl Sky Slate Mint Cream".split(),
    "stone": "Agate Amber Amethyst Beryl Citrine Diamond Emerald Garnet Jade Jasper Jet Lapis Malachite Moonstone Onyx Opal Pearl Peridot Quartz Ruby Sapphire Topaz Tourmaline Turquoise Zircon Basalt Chert Dolomite Flint Gneiss Granite Gypsum Marble Obsidian Pumice Schist Shale Slate Travertine".split(),
    "animal": "Robin|Jay|Martin|Wren|Swift|Drake|Finch|Raven|Lark|Nightingale|Kestrel|Merlin|Osprey|Kingfisher|Jackdaw|Magpie|Bullfinch|Bunny|Fox|Wolf|Lynx|Otter|Badger|Collie|Beagle|Boxer|Corgi|Dalmatian|Jack Russell|Saint Bernard|Labrador|Maine Coon|Angus|Holstein|Jersey|Guernsey|Hereford|Bradypus tridactylus|Canis lupus|Felis catus|Quercus robur|Homo sapiens|Drosophila melanogaster|Escherichia coli|Rosa canina|Salix alba|Monarch|Red Admiral|Painted Lady|Peacock".split("|"),
    "fabric": "Cashmere Denim Cotton Damask Jersey Linen Muslin Paisley Satin Silk Tweed Velvet Viscose Wool Chiffon Calico Gingham Tartan Harris Oxford Poplin Twill Lurex".split(),
    "hardware": "CUDA|CUDA 11|CUDA 12|ROCm|ROCm 6|Vulkan|Metal|MLX|OpenCL|Direct3D|DirectX|Ryzen 9|Xeon|Epyc|Tesla V100|Ampere|Ada|Hopper|Turing|Pascal|Volta|Maxwell|Kepler|Fermi|Raptor Lake|Alder Lake|Zen 4|Cortex-A76|Snapdragon|Tegra|Jetson Orin|GeForce|Radeon|Arc".split("|"),
    "software": "Jenkins|Maven|Gradle|Celery|Flask|Django|Rails|Laravel|Spring|Angular|React|Vue|Svelte|Ember|Bazel|CMake|Ninja|Conan|Poetry|Black|Ruff|Mypy|Jest|Mocha|Chai|Cypress|Selenium|Puppeteer|Cassandra|Redis|Kafka|Neptune|Aurora|Athena|Hive|Pig|Spark|Beam|Flink|Storm|Samza|Hadoop|Zookeeper|Helm|Istio|Envoy|Consul|Vault|Nomad|Packer|Grafana|Loki|Tempo|Thanos|Jaeger|Zipkin|Sentry|Hermes|Babel|Julia|Ada|Ruby|Crystal|Elm|Dart|Haskell|Erlang|Pascal|Scala|Goreleaser|Dependabot|Renovate|Adler|Huffman|Deflate|Snappy|Brotli|Bonjour|Samba|Avahi|Sybase|Oracle|Delta|Parquet|Arrow|Hudi|Iceberg".split("|"),
    "month": "January February March April May June July August September October November December Mon Tue Wed Thu Fri Sat Sun Monday Sunday Easter Spring Summer Autumn".split(),
    "element": "Hydrogen Helium Lithium Carbon Nitrogen Oxygen Neon Sodium Silicon Argon Calcium Titanium Iron Nickel Copper Zinc Krypton Silver Tin Iodine Xenon Platinum Gold Mercury Lead Radon Curium Einsteinium Fermium Nobelium Bohrium Meitnerium".split(),
    "tool": "Allen key|Philips screw|Phillips bit|Jack|Jenny|Stanley knife|Bunsen burner|Petri dish|Erlenmeyer flask|Dewar|Buchner funnel|Pasteur pipette|Vernier caliper|Geiger counter|Faraday cage|Van de Graaff|Tesla coil|Peltier|Pitot tube|Bourdon gauge|Diesel|Otto engine|Wankel|Stirling|Rankine cycle|Kelvin|Joule|Watt|Newton|Pascal|Hertz|Ampere|Volt|Ohm|Farad|Henry|Weber|Gauss|Becquerel|Sievert|Julian day|Gregorian calendar|Fahrenheit|Celsius|Richter scale|Beaufort 6".split("|"),
    "key": "LOWBAT|DRF|ACK|SYN|NAK|EOF|READY|FAILED|OK|WARN|TRUE|FALSE|NULL|NONE|AwsArn|IamRole|ecPublicKey|rsaEncryption|uLong|size_t|expon|kurtosis|skew|anon|lowbat|countersign|theorie|linnerud|Esq.|YI|XL|XXL|N/A|TBD|Vol.|Fig.|No.|Ltd|Chow|Ting-a-ling|Hurrah|Amen|Lord|Madam|Sir|Ahem|Bang|Boom|Woof|Meow|Ding-dong|Hallelujah|Yippee".split("|"),
}
# What bears the name of a person, a place or a people, and is none: for sentences that name nobody.
NAMESAKES = {
    "disease": "Parkinson's|Parkinson's disease|Crohn's|Crohn's disease|Alzheimer's|Alzheimer's disease|Hodgkin lymphoma|Huntington's disease|Graves' disease|Addison's disease|Cushing's syndrome|Tourette's|Down syndrome|Lyme disease|Asperger's|Bell's palsy|Raynaud's|Sjögren's syndrome|Meniere's disease|Guillain-Barré syndrome|Marfan syndrome|Stockholm syndrome|Munchausen syndrome|Spanish flu|German measles|Legionnaires' disease|West Nile fever|Ebola|Hashimoto's thyroiditis|Paget's disease|Wilson's disease|Dupuytren's contracture".split("|"),
    "score": "Apgar score|Glasgow Coma Scale|Wells score|Child-Pugh score|Richter scale|Mohs hardness|Beck inventory|Barthel index|Braden scale|Gleason score|Bristol stool chart|Ishihara test|Rorschach test|Stanford-Binet test|Geneva score|Edinburgh scale|Snellen chart|Likert scale|Mallampati class|Karnofsky index".split("|"),
    "law": "Doppler effect|Planck constant|Bernoulli principle|Ohm's law|Boyle's law|Hooke's law|Newton's third law|Avogadro number|Halley comet|Pythagorean theorem|Fibonacci sequence|Euler's identity|Bayes' theorem|Turing machine|Nash equilibrium|Markov chain|Monte Carlo method|Gaussian curve|Fourier transform|Laplace operator|Moore's law|Parkinson's law|Murphy's law|Pareto principle|Coriolis force|Hubble constant|Schrödinger equation|Heisenberg principle|Cartesian plane|Venn diagram|Stirling engine|Peter principle|Peltier element|Kepler's laws|Mendel's laws|Maslow pyramid|Pavlov reflex".split("|"),
    "breed": "Jack Russell|King Charles spaniel|Gordon setter|German shepherd|Great Dane|Labrador|Saint Bernard|Maine coon|Persian cat|Siamese|Irish setter|Yorkshire terrier|Boston terrier|Welsh corgi|Rhodesian ridgeback|Doberman|Rottweiler|Pomeranian|Chihuahua|Dalmatian|Newfoundland|Afghan hound|Norfolk terrier|Airedale|Weimaraner|Burmese cat|Shetland pony|Clydesdale|Jersey cow|Angus bull|Cornish hen|Père David's deer|Thomson's gazelle|Cooper's hawk".split("|"),
    "flower": "Black-eyed Susan|sweet William|Johnny jump-up|Queen Anne's lace|Jacob's ladder|Aaron's rod|Solomon's seal|Michaelmas daisy|Good King Henry|Creeping Jenny|Creeping Charlie|Rose of Sharon|St John's wort|lady's mantle|busy Lizzie|herb Robert|ragged Robin|tiger lily|Boston fern|Japanese maple|Norway spruce|Douglas fir|Canada goldenrod|Virginia creeper|Jerusalem artichoke|Carolina jessamine|English ivy|African violet|Joseph's coat|Veronica|weeping fig|Jack-in-the-pulpit".split("|"),
    "dish": "Victoria sponge|Battenberg|Bakewell tart|Waldorf salad|Tom Collins|Shirley Temple|Arnold Palmer|Eggs Benedict|Beef Wellington|Peach Melba|Crêpe Suzette|Pavlova|Yorkshire pudding|Black Forest cake|Cornish pasty|Lancashire hotpot|Danish pastry|Swiss roll|French toast|Irish stew|Turkish delight|Spanish omelette|Greek salad|Belgian waffle|English muffin|Scotch egg|Welsh rarebit|Russian salad|Vienna sausage|Peking duck|Singapore noodles|Singapore sling|Bombay mix|Hawaiian pizza|Margherita|Boston baked beans|Philadelphia roll|New York strip|Manhattan|Long Island iced tea|Irish coffee|General Tso's chicken|Earl Grey|Dijon mustard|Worcester sauce|Cuban sandwich|Kentucky fried chicken|Brazil nut|Anna potatoes|Black Russian|Moscow mule".split("|"),
    "clothes": "a Harris tweed jacket|Oxford shoes|a Panama hat|a Norfolk jacket|Bermuda shorts|Wellington boots|a Stetson|Mary Janes|a Hermès-style scarf|Chelsea boots|a Nehru collar|a Windsor knot|Derby shoes|a Paisley shawl|an Aran jumper|a Fair Isle vest|Jodhpurs|a Breton top|a Hawaiian shirt|a Peter Pan collar|a Prince of Wales check|a Crombie coat|a Balaclava|a Norwegian jumper|Turkish slippers|an Argyle cardigan|a Jersey dress|a Prussian blue coat|an Afghan coat|a Chanel-style suit".split("|"),
    "furniture": "Louis XV chair|Chesterfield sofa|Persian rug|Georgian bureau|Edwardian washstand|Victorian mirror|Tiffany-style lamp|Windsor chair|Davenport desk|Chippendale table|Venetian blind|Dutch oven|French window|Welsh dresser|Adirondack chair|Eames-style chair|Turkish carpet|Queen Anne table|Morris chair|Chinese screen|Murphy bed|Ming vase|Danish sideboard|Regency table|Delft tile|Dresden figurine|Toby jug|Franklin stove|Jacobean chest|Faberge-style egg".split("|"),
    "handtool": "Stillson wrench|Bunsen burner|Jack plane|Petri dish|Swiss army knife|Dremel|Bowie knife|Molotov|Venn chart|Davy lamp|Geiger counter|Philips bit|Rawlplug|Dutch hoe|English wheel|French curve|Japanese saw|Spanish windlass|Johnson bar|Halligan bar|Pulaski|Vernier caliper|Zimmer frame|Thomas splint|Foley catheter".split("|"),
    "opening": "Queen's gambit|Sicilian|French defence|Nimzo-Indian|London system|Evans gambit|Scotch game|Italian game|Budapest gambit|Dutch defence|English opening|Petroff|Pirc|Alekhine|Vienna game|Benoni".split("|"),
    "wine": "Shiraz|Riesling|Bordeaux|Chablis|Champagne|Rioja|Chianti|Marsala|Sancerre|Beaujolais|Malbec|Merlot|Zinfandel|Napa Cabernet|Barolo|Soave|Tokay|Cognac|Bourbon|Scotch|Johnnie Walker|Jim Beam|Captain Morgan|Jose Cuervo|Dom Pérignon|Veuve Clicquot".split("|"),
    "planet": "Mercury Venus Mars Jupiter Saturn Uranus Neptune Pluto Ceres Vesta Sirius Vega Polaris Orion Andromeda Ganymede Callisto Titan Rhea Triton Cassini Voyager".split(),
    "sign": "Virgo Gemini Leo Libra Taurus Aries Pisces Scorpio Sagittarius Capricorn Aquarius".split(),
    "suspect": "Miss Scarlett|Professor Plum|Reverend Green|Mrs. Peacock|Mrs. White|Doctor Black".split("|"),
    "novel": "Oliver Twist|David Copperfield|Pride and Prejudice|Moby-Dick|Madame Bovary|Tom Sawyer|Huckleberry Finn|Robinson Crusoe|Don Quixote|Dracula|Frankenstein|Doctor Zhivago|Mrs Dalloway|Pippi Longstocking|Anne of Green Gables|The Great Gatsby|Harry Potter and the Goblet of Fire|Nicholas Nickleby|Barnaby Rudge|Silas Marner|Adam Bede|Daniel Deronda|Tess of the d'Urbervilles|Jude the Obscure|Tristram Shandy|Tom Jones|Moll Flanders|Siddhartha|Howards End|Eleanor Oliphant Is Completely Fine|Olive Kitteridge|Stuart Little|Charlotte's Web|Middlemarch|Wuthering Heights|Buddenbrooks|The Talented Mr. Ripley|The Brothers Karamazov|Things Fall Apart|Mansfield Park|Northanger Abbey|Dubliners|King Lear|Richard III|Romeo and Juliet".split("|"),
    "film": "Billy Elliot|Evita|The Great Gatsby|Forrest Gump|Jerry Maguire|Donnie Darko|Annie Hall|Amélie|Mary Poppins|Mean Girls|Thelma & Louise|Bonnie and Clyde|Butch Cassidy and the Sundance Kid|Harold and Maude|Kramer vs. Kramer|Edward Scissorhands|John Wick|Jack Reacher|Jason Bourne|Michael Clayton|Dolores Claiborne|Notting Hill|Midnight in Paris|Lost in Translation|Crazy Rich Asians|The English Patient|The Italian Job|An American in Paris|Finding Nemo|Shrek|Moana|Mulan|Pocahontas|Aladdin|Tarzan|Peter Pan|Sweeney Todd|Jersey Boys|Kinky Boots|Dear Evan Hansen|Miss Saigon|My Fair Lady|Hello, Dolly!|Jesus Christ Superstar|Mamma Mia!|Citizen Kane|Dr. Strangelove|Mrs. Doubtfire|Mr. Bean|Ted Lasso|Better Call Saul|Veronica Mars|Jessica Jones|Grey's Anatomy|Frasier|Seinfeld|Roseanne|Ally McBeal".split("|"),
    "game": "Tomb Raider|Alan Wake|Max Payne|Mario Kart|Luigi's Mansion|Tony Hawk's Pro Skater|Civilization|Age of Empires|Silent Hill|Assassin's Creed|Red Dead Redemption|Zelda|Metroid|Pokémon|Crash Bandicoot|Monkey Island|Sam & Max|Professor Layton|Phoenix Wright|Catan|Carcassonne|Ticket to Ride|Puerto Rico|Orléans|Agricola".split("|"),
    "character": "Harry Potter|Superman|Wonder Woman|Clark Kent|Bruce Wayne|Cinderella|Snow White|Rapunzel|Robin Hood|Peter Pan|Captain Hook|Tinker Bell|Mickey Mouse|Donald Duck|Bugs Bunny|Winnie the Pooh|Darth Vader|Luke Skywalker|Princess Leia|Gandalf|Frodo|Bilbo Baggins|James Bond|Indiana Jones|Scrooge|Captain Ahab|Captain Nemo|Dr Watson|Dr Jekyll|Mr Hyde|Homer Simpson|Bart Simpson|SpongeBob|Father Brown|Inspector Morse|Philip Marlowe|Sam Spade|Mr Darcy|Huck Finn|Lara Croft|Zeus|Achilles|Odysseus|Loki|Santa Claus|Father Christmas|the Easter Bunny|Barbie".split("|"),
    "usage": "Alexa, set a timer for ten minutes.|OK Siri, what time is it?|Cortana, open the calendar.|Ask Siri or Alexa for the weather.|Enter your Christian name in block letters.|It is all Greek to me.|Pardon my French.|A Chinese whisper went round the class.|We went Dutch.|Russian roulette is not a game.|She took French leave.|An Indian summer followed.|A Mexican wave swept the stands.|That was a Pyrrhic victory.|He opened Pandora's box.|What a Herculean task.|A Trojan was found on the laptop.|It was a Catch-22.|Every Tom, Dick and Harry has one.|Heavens to Betsy!|For Pete's sake!|Jack of all trades, master of none|Not on your Nelly!|Bob's your uncle.|Keeping up with the Joneses costs money.|Happy as Larry|Gordon Bennett!|By George, it works!|Good grief, Charlie!|I kid you not, Sherlock.|No way, José!|Okey-dokey, artichokey|Goody two-shoes and a nosy parker|A doubting Thomas and a Peeping Tom|Set in Times New Roman, not in Georgia or Verdana.|Arabic numerals, Roman type|Morse code and Braille|a Ponzi scheme|the Midas touch|an Achilles heel|the Bermuda triangle of lost socks|Plain vanilla, rocky road or Neapolitan?|Paint it Prussian blue, burnt sienna or Venetian red.|Swiss cheese, Swiss roll, Swiss army knife|Brazilian wax, French manicure|Jerry can, jumbo jet and teddy bear|Sideburns, cardigan, sandwich, boycott|A4 paper in a Manila envelope".split("|"),
}
UNITS = "kg g l ml cl pcs box pack m cm mm % °C €".split()
HEADINGS = "item product name variety kind type label title description stock colour code".split()


# What a column of names may hold, and its headings.
NAMED = {
    "PERSON": (lambda rng: names.written(*names.person(rng), rng), "name customer patient employee contact owner author assignee"),
    "LOCATION": (lambda rng: names.town_name(rng), "city town place location office destination"),
    "ORGANIZATION": (lambda rng: names.organization(rng), "company employer supplier client vendor"),
    "ADDRESS": (lambda rng: names.address(rng), "address street delivery"),
}


def table(rng: Random, builder: Builder) -> None:
    """A table of things and numbers, in one of the forms that programs and people write; half of the tables have columns of names."""
    columns = [(kind, rng.choice(HEADINGS)) for kind in rng.sample(list(THINGS), rng.choice((1, 1, 2, 3)))]
    if rng.random() < 0.5:
        columns = columns[: rng.choice((0, 0, 1))]
        columns += [(kind, rng.choice(NAMED[kind][1].split())) for kind in rng.sample(list(NAMED), rng.choice((1, 1, 2, 3)))]
    columns += [("", rng.choice(("id", "amount", "date", "qty", "price", "total"))) for _ in range(rng.randint(1, 4))]
    rng.shuffle(columns)
    if rng.random() < 0.3:
        columns = [(kind, heading.capitalize()) for kind, heading in columns]
    rows = [[_cell(kind, rng) for kind, _ in columns] for _ in range(rng.randint(2, 12))]
    form = rng.choice(("csv", "csv", "tsv", "pipe", "fixed", "json", "list", "yaml"))
    if form in ("csv", "tsv", "pipe", "fixed") and rng.random() < 0.7:
        rows.insert(0, [(heading, None) for _, heading in columns])
    separator = {"csv": ",", "tsv": "\t", "pipe": " | ", "json": ", ", "yaml": "\n  "}.get(form) or rng.choice((" ", ", ", " - "))
    bullet = rng.choice("-*")
    for i, row in enumerate(rows):
        builder.add(("\n" if i else "") + {"json": '{"', "list": bullet + " ", "yaml": "- "}.get(form, ""))
        for j, ((text, kind), (_, heading)) in enumerate(zip(row, columns)):
            if form == "csv" and "," in text:
                builder.add('"')
            if form in ("json", "yaml"):
                builder.add(f'{heading}": "' if form == "json" else f"{heading}: ")
            builder.add(text, kind)
            if form == "csv" and "," in text:
                builder.add('"')
            if form == "fixed":
                builder.add(" " * max(2, 18 - len(text)))
            elif j + 1 < len(columns):
                builder.add('", "' if form == "json" else separator)
        builder.add('"},' if form == "json" else "")


def _cell(kind: str, rng: Random) -> tuple[str, str | None]:
    if kind in NAMED:
        return NAMED[kind][0](rng), kind
    if kind:
        return rng.choice(THINGS[kind]), None
    return rng.choice((str(rng.randint(0, 9999)), f"{rng.uniform(0, 99):.2f}", f"{rng.randint(1, 900)} {rng.choice(UNITS)}", rng.choice(THINGS["month"]))), None


SENTENCES = (
    "The {0} is doing well next to the {1}.", "We ran out of {0} and {1}, order more.", "Is {0} better than {1} for this?", "{0}, {1} and {2} are on sale.", "Add {0}, then stir in the {1}.",
    "Upgrade {0} before you install {1}.", "{0} does not support {1} yet.", "The error came from {0}, not from {1}.", "My favourite is {0}.", "{0}! cried the crowd. {1}!", "It said {0} on the box, {1} on the lid.",
    "{0} (see {1}) replaces {2}.", '"{0}": "{1}",', "{0} = {1}", "#define {0} {1}", "{0}: {1}", "{0} -> {1}", "the {0} of the {1}", "Choose between {0}, {1} or {2}.", "Compare {0} with {1} in table 3.",
)


def write(rng: Random, builder: Builder) -> None:
    """A table, or sentences with things."""
    if rng.random() < 0.6:
        table(rng, builder)
        return
    things = THINGS[rng.choice([c for c in THINGS if c != "plant"])]  # in a sentence, Veronica is somebody
    builder.add(rng.choice((" ", "\n")).join(rng.choice(SENTENCES).format(*(rng.choice(things) for _ in range(3))) for _ in range(rng.randint(1, 5))))
