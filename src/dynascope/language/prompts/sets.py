"""The prompt sets of chen2025: who gave what to whom, facts of Table C.3, prepositions.

Facts and prepositions are those of the document (C.7.1, Table C.3). Its list of names and its
template are not given: these are our own, with "a" for "the", which therefore is not in the
context. Its 40 unfinished sentences are replaced by 40 of ours with the same endings.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dynascope.core.errors import bad
from dynascope.language.prompts.base import Prompt

NAMES = ("Mary", "John", "Tom", "Anna", "Tim", "Lucy", "Sam", "Sara", "Ben", "Jack", "Emma", "Max",
         "Lily", "Peter", "Amy", "Bob", "Kate", "Mark")  # fmt: skip
PLACES = ("store", "park", "school", "garden", "zoo", "farm", "beach", "library")
THINGS = ("drink", "ball", "book", "flower", "cake", "toy", "cookie", "hat")
IOI_TEMPLATES = (
    "When {a} and {b} went to a {place}, {s} gave a {thing} to",
    "{a} and {b} went to a {place}. {s} gave a {thing} to",
    "One day {a} and {b} were at a {place}, and {s} gave a {thing} to",
)
FACTS = (
    ("The Great Wall is located in", "China"), ("Mount Kilimanjaro is located in", "Tanzania"),
    ("The Nobel Prize is awarded in", "Sweden"),
    ("The Statue of Liberty stands in", "New York Harbor"),
    ("Vatican City is enclosed within", "Rome"), ("The Acropolis is situated in", "Athens"),
    ("The Sydney Opera House is located on", "Bennelong Point"),
    ("The Galápagos Islands belong to", "Ecuador"),
    ("The Aurora Borealis can be seen in", "Norway"),
    ("The Amazon River flows through", "Brazil"),
    ("The Andes Mountains extend through", "Chile"), ("Machu Picchu is found in", "Peru"),
    ("The Kremlin is located in", "Moscow"), ("Uluru is a landmark found in", "Australia"),
    ("Petra is an archaeological city in", "Jordan"), ("Angkor Wat is located in", "Cambodia"),
    ("The city of Toronto is in", "Canada"), ("The city of Barcelona is in", "Spain"),
    ("The city of Mumbai is in", "India"), ("The Eiffel Tower is located in", "Paris"),
)  # fmt: skip
# More of the same kind, for splits of some size: cities and where they lie.
CITIES = {
    "Madrid": "Spain", "Lisbon": "Portugal", "Munich": "Germany", "Milan": "Italy",
    "Lyon": "France", "Kyoto": "Japan", "Osaka": "Japan", "Seoul": "Korea", "Beijing": "China",
    "Shanghai": "China", "Delhi": "India", "Karachi": "Pakistan", "Dhaka": "Bangladesh",
    "Hanoi": "Vietnam", "Bangkok": "Thailand", "Jakarta": "Indonesia", "Manila": "Philippines",
    "Sydney": "Australia", "Auckland": "New Zealand", "Cairo": "Egypt", "Lagos": "Nigeria",
    "Nairobi": "Kenya", "Addis Ababa": "Ethiopia", "Casablanca": "Morocco", "Tunis": "Tunisia",
    "Accra": "Ghana", "Dakar": "Senegal", "Cape Town": "South Africa", "Kampala": "Uganda",
    "Ankara": "Turkey", "Istanbul": "Turkey", "Tehran": "Iran", "Baghdad": "Iraq",
    "Damascus": "Syria", "Beirut": "Lebanon", "Amman": "Jordan", "Riyadh": "Saudi Arabia",
    "Doha": "Qatar", "Kabul": "Afghanistan", "Kathmandu": "Nepal", "Moscow": "Russia",
    "Kyiv": "Ukraine", "Warsaw": "Poland", "Krakow": "Poland", "Prague": "Czech Republic",
    "Vienna": "Austria", "Budapest": "Hungary", "Bucharest": "Romania", "Sofia": "Bulgaria",
    "Belgrade": "Serbia", "Zagreb": "Croatia", "Athens": "Greece", "Helsinki": "Finland",
    "Stockholm": "Sweden", "Oslo": "Norway", "Bergen": "Norway", "Copenhagen": "Denmark",
    "Dublin": "Ireland", "Edinburgh": "Scotland", "Brussels": "Belgium", "Zurich": "Switzerland",
    "Geneva": "Switzerland", "Toronto": "Canada", "Montreal": "Canada", "Vancouver": "Canada",
    "Havana": "Cuba", "Mexico City": "Mexico", "Guadalajara": "Mexico", "Lima": "Peru",
    "Bogota": "Colombia", "Caracas": "Venezuela", "Quito": "Ecuador", "Santiago": "Chile",
    "Buenos Aires": "Argentina", "Montevideo": "Uruguay", "Sao Paulo": "Brazil",
    "Rio de Janeiro": "Brazil", "La Paz": "Bolivia", "Chicago": "Illinois", "Houston": "Texas",
    "Dallas": "Texas", "Seattle": "Washington", "Denver": "Colorado", "Phoenix": "Arizona",
    "Miami": "Florida", "Atlanta": "Georgia", "Boston": "Massachusetts", "Detroit": "Michigan",
    "Barcelona": "Spain", "Valencia": "Spain", "Naples": "Italy", "Venice": "Italy",
    "Hamburg": "Germany", "Frankfurt": "Germany", "Marseille": "France", "Mumbai": "India",
}  # fmt: skip
PREPOSITIONS = (
    "about", "above", "across", "after", "against", "along", "around", "at", "before", "behind",
    "below", "beneath", "beside", "between", "by", "during", "for", "from", "in", "inside", "into",
    "near", "of", "on", "over", "through", "to", "under", "with", "without",
)  # fmt: skip
SENTENCES = (
    "A tired clerk read every letter twice and still could not say what it was about",
    "A grey heron stood still for an hour and then rose slowly above",
    "Two small boys carried an old ladder out and laid it across",
    "A careful baker weighs flour and salt and washes both hands before",
    "Nobody in our street had ever paid a bill before",
    "A good driver looks left and right and left again before",
    "Three nurses hurried past, and an old man was left behind",
    "Smoke rose in a thin line and more of it drifted in",
    "She locked her bicycle, took off her wet coat and looked inside",
    "A narrow path leaves our village and wanders along",
    "Every summer a brass band plays as it marches along",
    "A white gull spread its wings and sailed over",
    "He poured hot milk slowly and watched it run over",
    "A low bridge has a sign that warns tall lorries passing over",
    "Her uncle repairs clocks that nobody else has patience with",
    "My neighbour owns a loud parrot that she likes to talk with",
    "A carpenter needs a sharp saw and a bench to work with",
    "A young teacher asked for silence and nobody spoke during",
    "Rain fell on our tents and we played cards during",
    "A long speech was given and half of us slept during",
    "Lights went out twice and people laughed during",
    "An orchestra tuned its strings and somebody coughed during",
    "A boy lifted a flat stone and found many ants beneath",
    "Old floorboards creaked and a mouse was running beneath",
    "A diver saw nothing but dark green water beneath",
    "Her hat hid a bandage and a deep cut beneath",
    "A thin blanket covered him and hard straw lay beneath",
    "A farmer built a strong fence and planted roses around",
    "When a fire was lit, all of us gathered around",
    "A new road has four lanes and tall trees around",
    "A puppy chased its own tail and ran around",
    "A square table stood there with eight chairs around",
    "A good soup is something that I never want to be without",
    "Winter is hard, and a warm coat is not easy to do without",
    "He left in a hurry, and his sister had to manage without",
    "A map is a thing that no sailor likes to be without",
    "Salt is cheap, and no kitchen has ever been found without",
    "My aunt lost her glasses and could not read without",
    "A long walk is a pleasure that he would not go without",
    "A blackbird sang in our tall tree while clouds passed above",
)


def ioi(count: int = 100, seed: int = 0) -> tuple[Prompt, ...]:
    """Two people, one of them gives something to: whom? The one who is named once.

    Args:
        count: How many prompts, all different.
        seed: Of names, places, things, templates, and which name comes first.

    Returns:
        The prompts; `other` is the giver, who is named twice.

    Example:
        >>> ioi(1, seed=3)[0].generic
        'the'
    """
    most = len(NAMES) * (len(NAMES) - 1) * len(PLACES) * len(THINGS)
    if not 1 <= count <= most:
        raise bad("count", count, f"a whole number from 1 to {most}")
    rng = np.random.default_rng(seed)
    found: dict[str, Prompt] = {}
    while len(found) < count:
        a, b = rng.choice(NAMES, 2, replace=False)
        gives, gets = (a, b) if rng.random() < 0.5 else (b, a)
        text = str(rng.choice(IOI_TEMPLATES)).format(
            a=a, b=b, s=gives, place=rng.choice(PLACES), thing=rng.choice(THINGS)
        )
        found.setdefault(text, Prompt(text, str(gets), "the", str(gives)))
    return tuple(found.values())


def facts(count: int = 20, seed: int = 0) -> tuple[Prompt, ...]:
    """The 20 facts of Table C.3, then as many cities and countries as are asked for."""
    printed = [Prompt(text, answer) for text, answer in FACTS]
    cities = [Prompt(f"{city} is located in", land) for city, land in CITIES.items()]
    most = len(printed) + len(cities)
    if not 1 <= count <= most:
        raise bad("count", count, f"a whole number from 1 to {most}")
    order = np.random.default_rng(seed).permutation(len(cities))
    return tuple([*printed, *(cities[i] for i in order)][:count])


def prepositions(count: int = 70, seed: int = 0) -> tuple[Prompt, ...]:
    """30 bare prepositions, then 40 sentences that end with one; nothing but "the" to expect."""
    texts = [p.capitalize() for p in PREPOSITIONS] + [*SENTENCES]
    if not 1 <= count <= len(texts):
        raise bad("count", count, f"a whole number from 1 to {len(texts)}")
    return tuple(Prompt(text, "") for text in texts[:count])


SETS: dict[str, Callable[..., tuple[Prompt, ...]]] = {
    "ioi": ioi,
    "facts": facts,
    "prepositions": prepositions,
}
