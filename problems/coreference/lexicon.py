"""English words that help to classify mentions: pronouns, titles, nouns for people, given names."""

from __future__ import annotations

from enum import IntEnum


class Pronoun(IntEnum):
    """The paradigm of a pronoun."""

    NONE, ME, YOU, HE, SHE, IT, WE, THEY, ONE, THERE, INDEFINITE = range(11)


class Gender(IntEnum):
    """The gender of the pronouns that a mention agrees with."""

    UNKNOWN, MASCULINE, FEMININE, NEUTER = range(4)


class Case(IntEnum):
    """The form of a pronoun."""

    NONE, SUBJECT, OBJECT, POSSESSIVE, REFLEXIVE = range(5)


class Number(IntEnum):
    """Grammatical number."""

    UNKNOWN, SINGULAR, PLURAL = range(3)


class Animacy(IntEnum):
    """A person, or a place or thing."""

    UNKNOWN, PERSON, THING = range(3)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _paradigms(text: str) -> dict[str, tuple[Pronoun, Case]]:
    forms = {}
    for line in text.strip().splitlines():
        name, _, rest = line.partition(":")
        for case, words in zip(Case, rest.split(";"), strict=False):
            for word in words.split():
                forms[word] = (Pronoun[name.strip()], case)
    return forms


PRONOUNS = _paradigms(
    """
    ME: ; i; me; my mine; myself
    YOU: you yeh yer ye; thou; thee; your yours thy thine; yourself yourselves thyself
    HE: ; he; him; his; himself
    SHE: ; she; her; hers; herself
    IT: it; ; ; its; itself
    WE: ; we; us; our ours; ourselves ourself
    THEY: ; they; them 'em; their theirs; themselves
    ONE: one ; ; ; ; oneself
    THERE: there here where home abroad upstairs downstairs elsewhere somewhere nowhere everywhere anywhere
    INDEFINITE: nobody somebody anybody everybody everyone anyone someone none some all others other another both each
    INDEFINITE: few many several most any whoever who whom which this that these those either neither
    """
)
"""Paradigm and form of each pronoun, in lower case."""

GENDER_OF_PRONOUN = {
    Pronoun.HE: Gender.MASCULINE,
    Pronoun.SHE: Gender.FEMININE,
    Pronoun.IT: Gender.NEUTER,
    Pronoun.THERE: Gender.NEUTER,
}
PLURAL_PRONOUNS = frozenset({Pronoun.WE, Pronoun.THEY})
SINGULAR_PRONOUNS = frozenset({Pronoun.ME, Pronoun.HE, Pronoun.SHE, Pronoun.IT, Pronoun.ONE})
PERSONAL_PRONOUNS = frozenset({Pronoun.ME, Pronoun.YOU, Pronoun.HE, Pronoun.SHE, Pronoun.WE})

MASCULINE_TITLES = _words(
    "mr mr. mister sir lord master squire monsieur m. signor herr don father brother uncle king prince duke count "
    "baron earl captain capt. capt colonel col. general gen. major lieutenant sergeant admiral reverend rev. bishop "
    "pope esquire esq. saint st. parson friar judge sheriff senator president emperor tsar"
)
FEMININE_TITLES = _words(
    "mrs mrs. miss ms ms. lady madam madame mme. mademoiselle mlle. signora signorina frau fraulein dame sister "
    "aunt queen princess duchess countess baroness mother mistress empress granny"
)
OTHER_TITLES = _words("dr dr. doctor professor prof. cousin inspector officer judge old young little poor dear")
TITLES = MASCULINE_TITLES | FEMININE_TITLES | OTHER_TITLES

MASCULINE_NOUNS = _words(
    "man boy gentleman fellow lad chap guy male father dad daddy papa pa son brother husband uncle nephew "
    "grandfather grandpapa grandson stepfather widower bachelor bridegroom groom king prince duke earl baron count "
    "lord knight squire sir monk priest friar abbot bishop parson clergyman vicar curate rector pope sailor soldier "
    "captain colonel major general lieutenant sergeant admiral policeman constable sheriff fisherman workman "
    "coachman footman butler valet waiter landlord actor emperor hero wizard sorcerer master mister monsieur "
    "carpenter blacksmith farmer shepherd butcher baker grocer postman watchman statesman nobleman countryman "
    "englishman frenchman irishman scotsman dutchman kinsman foreman salesman stepson godfather godson headmaster "
    "schoolboy"
)
FEMININE_NOUNS = _words(
    "woman girl lady gentlewoman maid maiden lass female mother mamma mama mum mummy ma daughter sister wife aunt "
    "auntie niece grandmother grandmamma granny granddaughter stepmother widow spinster bride queen princess "
    "duchess countess baroness dame nun abbess governess actress hostess mistress madam madame waitress landlady "
    "housekeeper housemaid nurse seamstress heroine witch sorceress empress matron goddess wench nursemaid milkmaid "
    "schoolgirl godmother stepdaughter sweetheart heiress ayah midwife charwoman laundress cook"
)
PERSON_NOUNS = _words(
    "person people child baby infant friend doctor physician lawyer attorney clerk teacher master servant stranger "
    "visitor guest neighbour neighbor passenger traveller traveler companion cousin parent parents children folk "
    "folks men women boys girls ladies gentlemen brothers sisters sons daughters fathers mothers friends servants "
    "soldiers sailors visitors guests neighbours neighbors passengers strangers husbands wives uncles aunts cousins "
    "nephews nieces student scholar poet artist painter musician author writer judge merchant tradesman driver "
    "peasant prisoner thief murderer robber officer officers enemy ancestor ancestors couple lover lovers creature "
    "fool wretch villain orphan patient player secretary editor president inspector detective agent guide hunter "
    "miner pilot speaker reader family crowd company crew party mob army somebody nobody anybody everybody someone "
    "anyone everyone darling dear boss throng"
)
PLACE_NOUNS = _words(
    "house home room hall kitchen parlour parlor chamber bedroom library garden yard street road lane path town "
    "city village country county island sea ocean river lake hill hills mountain mountains valley forest wood woods "
    "field fields plain shore coast beach bay harbour harbor port castle palace church chapel abbey school college "
    "university hospital hotel inn tavern shop store market office station bank bridge tower gate door window "
    "staircase stairs corridor passage cellar attic roof cottage farm barn stable court square park place spot "
    "corner side world earth land state nation kingdom province parish district neighbourhood neighborhood camp "
    "cabin hut tent cave desert moor marsh cliff rock pool stream brook pond ship boat vessel carriage coach train "
    "cart car wagon cab steamer deck theatre theater prison jail cell study nursery drawing-room dining-room "
    "sitting-room bed-room terrace balcony verandah porch lawn avenue drive ground grounds sky heaven hell planet "
    "moon sun mars north south east west"
)
PLURAL_NOUNS = _words("people men women children folk folks parents cattle police gentlemen couple others mice geese")
PLURAL_DETERMINERS = _words("two three four five six seven eight nine ten both many several few these those all most")
SINGULAR_OF = {"men": "man", "women": "woman", "ladies": "lady", "wives": "wife", "gentlemen": "gentleman"}
SINGULAR_IN_S = _words("miss mistress princess duchess countess actress hostess governess headmistress abbess")

MASCULINE_NAMES = _words(
    "john william james george charles thomas henry robert joseph edward samuel richard david peter paul michael "
    "daniel andrew arthur frank fred frederick alfred albert walter harry jack tom tommy will bill billy bob bobby "
    "dick ned ben sam joe jim jimmy dan mike philip francis hugh ralph roger stephen simon matthew mark luke "
    "nicholas oliver edmund edgar edwin ernest eugene felix gilbert godfrey harold herbert horace isaac jacob "
    "jonathan joshua julian lawrence leonard lewis louis martin maurice nathaniel oscar patrick percy raymond "
    "reginald rupert sidney theodore timothy tim victor vincent wilfred abraham adam adrian alan alexander anthony "
    "antonio archibald archie augustus basil benjamin bernard christopher clement clive cyril denis dennis dorian "
    "douglas duncan gabriel gerald gregory heathcliff hector jasper jerry jonas juan karl kenneth laurence lionel "
    "max miles montague neville newland noah norman otto owen pierre ronald roderick rodolphe rudolf sebastian "
    "silas solomon terence terry toby tobias ulysses wallace winston"
)
FEMININE_NAMES = _words(
    "mary elizabeth anne ann anna jane margaret sarah catherine katharine katherine kate alice emma emily charlotte "
    "harriet helen ellen eleanor caroline louisa maria martha rose lucy susan frances fanny florence edith ethel "
    "grace agnes amy beth bess betsy betty bella bertha beatrice blanche bridget carol carrie cecilia celia clara "
    "clarissa constance cora cordelia daisy dinah dolly dora dorothea dorothy eliza ella elsie esther eva eve "
    "evelyn flora gertrude georgiana georgina gwendolen hannah hester hetty henrietta ida irene isabel isabella ivy "
    "janet jean jenny jessie jo joan josephine judith julia juliet justine kitty laura leila lena lily lizzie "
    "lottie lucilla lydia mabel madeline maggie marian marianne marie marilla marjorie matilda maud meg mildred "
    "millicent minnie miriam molly nancy nell nellie nelly nora olive olivia ophelia pamela patience patty penelope "
    "phoebe polly rachel rebecca rosalind rosamond ruth sally sophia sophy stella sue susannah sylvia teresa tess "
    "theresa ursula venetia victoria viola violet virginia winifred winnie zoe"
)

DEFINITE = _words("the this that these those yonder such")
INDEFINITE = _words("a an some any no every each another many several few most all both one two three four five")
DETERMINERS = DEFINITE | INDEFINITE
PREPOSITIONS = _words(
    "of in on at to from with by for about over under between among through against behind before after above below "
    "beside near into upon within without across around toward towards during beyond like as than along outside "
    "inside beneath"
)
CONJUNCTIONS = frozenset({"and", "or", "but", "nor"})
RELATIVES = _words("who whom whose which that where when while what")
GENITIVE = frozenset({"'s", "’s", "'", "’"})
COPULAS = _words("is was are were am be been being become became becomes seemed seems ’re 're ’m 'm remained")
AUXILIARIES = COPULAS | _words(
    "has had have do does did will would shall should can could may might must ’ll 'll ’d 'd ’ve 've never not"
)
SAYING = _words(
    "said says say replied cried asked answered exclaimed returned whispered murmured muttered shouted added "
    "continued observed remarked inquired enquired demanded began called declared responded repeated rejoined "
    "interrupted thought suggested went resumed ejaculated growled screamed sighed laughed gasped spoke pursued "
    "retorted quoth explained urged protested insisted announced agreed"
)
