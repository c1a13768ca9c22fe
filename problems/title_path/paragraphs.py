"""Three paragraphs in the public domain, for examples and ``colgen demo``."""

from __future__ import annotations

from colgen.problems.title_path.sections import Section

PARAGRAPHS = (
    Section(
        "The Gettysburg Address",
        "Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in "
        "Liberty, and dedicated to the proposition that all men are created equal. Now we are engaged in a great civil "
        "war, testing whether that nation, or any nation so conceived and so dedicated, can long endure. We are met on "
        "a great battle-field of that war. We have come to dedicate a portion of that field, as a final resting place "
        "for those who here gave their lives that that nation might live. It is altogether fitting and proper that we "
        "should do this. But, in a larger sense, we can not dedicate, we can not consecrate, we can not hallow this "
        "ground. The brave men, living and dead, who struggled here, have consecrated it, far above our poor power to "
        "add or detract. The world will little note, nor long remember what we say here, but it can never forget what "
        "they did here. It is for us the living, rather, to be dedicated here to the unfinished work which they who "
        "fought here have thus far so nobly advanced.",
        "Lincoln, 1863",
    ),
    Section(
        "Loomings",
        "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and "
        "nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of "
        "the world. It is a way I have of driving off the spleen and regulating the circulation. Whenever I find "
        "myself growing grim about the mouth; whenever it is a damp, drizzly November in my soul; whenever I find "
        "myself involuntarily pausing before coffin warehouses, and bringing up the rear of every funeral I meet; and "
        "especially whenever my hypos get such an upper hand of me, that it requires a strong moral principle to "
        "prevent me from deliberately stepping into the street, and methodically knocking people's hats off; then, I "
        "account it high time to get to sea as soon as I can.",
        "Melville, 1851",
    ),
    Section(
        "On the Origin of Species",
        "When on board H.M.S. Beagle, as naturalist, I was much struck with certain facts in the distribution of the "
        "inhabitants of South America, and in the geological relations of the present to the past inhabitants of that "
        "continent. These facts seemed to me to throw some light on the origin of species, that mystery of mysteries, "
        "as it has been called by one of our greatest philosophers. On my return home, it occurred to me, in 1837, "
        "that something might perhaps be made out on this question by patiently accumulating and reflecting on all "
        "sorts of facts which could possibly have any bearing on it.",
        "Darwin, 1859",
    ),
)
"""From the Gettysburg Address, *Moby-Dick* and *On the Origin of Species*."""
