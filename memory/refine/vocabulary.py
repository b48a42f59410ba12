"""The words that the guards go by: what negates, what opposes, what says the same, what says little.

The lists hold kinds of words that rules are made of, not the words of any particular rule. A word in none of them is
taken at face value: two different ones mean two different things.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Each turns round what follows it in its clause; a verb of leaving out does it as well as "not". Contractions come
# without their apostrophe.
NEGATORS = _words(
    """
    not never no none nothing nobody neither nor without avoid avoids avoiding avoided cannot dont doesnt didnt isnt
    arent wasnt werent wont wouldnt shouldnt mustnt cant couldnt shant neednt hasnt havent hadnt skip skips skipping
    omit omits omitting forget forgetting neglect refrain stop stops ignore ignores ignoring disregard
    nicht kein keine keinen keiner keinem keines nie niemals ohne vermeide vermeiden vermeidet
    pas jamais sans aucun aucune évite éviter évitez ne nunca jamás sin evita evite evitar evitad tampoco
    не нет никогда без нельзя избегай избегайте избегать 不 别 勿 没 未 无 莫 避
    """
)
# Phrases that say in several words what the lists below say in one.
IDIOMS = (
    (r"\bby hand\b", "manually"),
    (r"\b(?:by itself|by themselves|on its own|on their own)\b", "automatically"),
    (r"\b(?:turn|switch)(?:s|es)? off\b", "disable"),
    (r"\b(?:turned|switched) off\b", "disabled"),
    (r"\b(?:turn|switch)(?:s|es)? on\b", "enable"),
    (r"\b(?:turned|switched) on\b", "enabled"),
    (r"\boff[- ]limits\b", "forbidden"),
    (r"\bout of the question\b", "forbidden"),
    (r"\b(stays?|keeps?|kept|leaves?|left|belongs?)\b((?: [\w`./-]+){0,5}?) out of\b", r"\1\2 not in"),
    (r"\bright away\b|\bat once\b|\bstraight away\b", "immediately"),
)
# Of two of these near each other the second only completes the first: "ne … jamais", "никогда не".
CONCORD = _words("ne pas jamais aucun aucune nunca jamás tampoco не нет никогда без нельзя 不 别 勿 没 未 无 莫")
# Turns round the whole clause, what stands before it included.
FORBIDDING = _words(
    """
    forbid forbids forbidden prohibit prohibits prohibited ban bans banned disallow disallows disallowed discouraged
    deprecated unsupported verboten interdit interdite prohibido prohibida запрещено запрещён запрещена запрещается 禁
    """
)
# After a negator these do the same: "tabs are not allowed".
ALLOWING = _words(
    "allowed permitted recommended supported acceptable ok okay welcome erlaubt autorisé permise permitido разрешено 允"
)
# Begins an instruction of its own after a comma or an "and", so that an earlier negation does not reach it.
OPENERS = _words(
    """
    always use prefer run keep make set add write create call check ensure put place store read instead only must do
    but rather immer sondern toujours mais siempre sino всегда а но 而 要
    """
)
# Opens a clause that a negation before it does not reach.
SUBORDINATORS = _words(
    """
    when whenever if unless while because since before after until so although wenn weil bevor nachdem damit quand si
    lorsque parce avant après cuando porque antes después когда если потому пока
    """
)
PREPOSITIONS = _words(
    "for in on at to with by from into onto via per für im mit bei von pour dans avec para con por для с"
)
# Asks for the opposite of having or doing, without negating anything by grammar.
UNDOING = _words(
    """
    remove delete drop erase disable deactivate revert reverse undo reject block discard uninstall unset
    exclude hide strip suppress entferne entfernen supprimer eliminar удалить удали 删
    """
)
# Verbs so wide that "use" can stand for them.
WIDE = _words("run configure enable handle support encourage recommend manage")
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS) if word != "one"}  # "one" is also a pronoun

# Function words, courtesy, and praise that any rule could carry. Adverbs in -ly are added by rule.
LIGHT = _words(
    """
    a an the this that these those it its it's they their them he she his her you your we our us i my me who which what
    whose there here and or so also too then thus hence as of in on at by for with within from to into onto via per
    through throughout across about around between among up out over down off is are was were be been being am do does
    did done doing has have had having can could may might must should shall will would need needs needed want wants let
    lets please kindly when where while if whether because since such any some all every each both either just only even
    still yet already always ever often usually generally typically simply really very quite more most much many few
    own same like etc example examples note sure certain ensure try consider remember than until once how why
    proper appropriate correct consistent comprehensive robust good better best well great clear concise meaningful
    helpful useful relevant suitable necessary sufficient effective efficient reliable strong solid thorough accurate
    nice enhanced improved various several different possible available applicable important whenever wherever
    absolutely thing things way ways approach approaches strategy strategies technique techniques principle principles
    guideline guidelines rule rules practice practices
    der die das ein eine einen einem und oder zu im am mit für ist sind bitte immer den dem des von bei
    le la les un une et ou à au aux du de dans pour avec est sont toujours el los las una y o en con por para es son
    siempre del al и или в на с для это всегда по к 的 了 请 是 在 和 要 止 免 许
    """
)

# Words that stand for each other in rules. Verbs of making and of using are one group: "implement", "write", "follow"
# and "use" before the same object ask for the same.
_GROUPS = """
use utilize utilise leverage employ apply adopt prefer favor favour follow implement add create define write build \
provide include introduce establish make give return supply offer produce generate emit
run execute invoke launch call
show display print present
check verify confirm examine inspect review
keep maintain preserve retain
delete remove drop erase
get fetch retrieve obtain
store save persist
change modify edit alter
fix repair resolve
begin start initiate
finish complete end
choose select pick
big large
small tiny
quick fast rapid
simple easy
whole entire full
one single
additional extra further
exception error failure
documentation doc
directory folder dir
configuration config configure
environment env
development dev
production prod
authentication auth authenticate
database db
parameter param
argument arg
function func
variable var
dependency dep
package pkg
application app
message msg
utility util
javascript js
typescript ts
kubernetes k8s
identifier id
asynchronous async
synchronous sync
maximum max
minimum min
safe safety
repository repo codebase
link connect associate attach
situation case
feature capability functionality
""".replace("\\\n", "")
SYNONYMS: dict[str, str] = {word: group.split()[0] for group in _GROUPS.splitlines() for word in group.split()}

_OPPOSITES = """
before after; enable disable; allow deny; allow forbid; allow block; accept reject; permit prohibit
include exclude; first last; initial final; initial subsequent; first second; early late; earlier later; start stop
start end; begin end; open close; lock unlock; add remove; create delete; create destroy; add drop; insert delete
push pull; push pop; get set; read write; load save; load unload; import export; upload download; send receive
encode decode; encrypt decrypt; compress decompress; serialize deserialize; mount unmount; install uninstall
attach detach; connect disconnect; register unregister; subscribe unsubscribe; show hide; expand collapse
increase decrease; increment decrement; maximize minimize; raise lower; grow shrink; ascending descending; asc desc
up down; left right; top bottom; above below; over under; front back; forward backward; inside outside
internal external; inner outer; input output; incoming outgoing; inbound outbound; request response; client server
frontend backend; source target; source destination; parent child; ancestor descendant; local remote; local global
global scoped; public private; public internal; shared private; static dynamic; sync async
synchronous asynchronous; blocking nonblocking; serial parallel; sequential parallel; sequential concurrent
eager lazy; mutable immutable; const let; optional required; optional mandatory; manual automatic
implicit explicit; direct indirect; relative absolute; positive negative; true false; yes no; on off
success failure; pass fail; valid invalid; safe dangerous; secure insecure; stable unstable; stable experimental
old new; legacy modern; latest oldest; latest pinned; newer older; high low; higher lower; highest lowest
big small; large small; larger smaller; long short; longer shorter; wide narrow; deep shallow; thick thin
fast slow; faster slower; hot cold; warm cold; hard soft; strict loose; strict lenient; strong weak; rich poor
full empty; full partial; complete incomplete; complete partial; many few; more less; more fewer; most least
maximum minimum; max min; single double; single multiple; singular plural; one two; all none; always never
use avoid; prefer avoid; keep remove; keep discard; keep delete; preserve discard; tabs spaces; tab space
light dark; black white; day night; odd even; upper lower; uppercase lowercase; camelcase snakecase
pascalcase camelcase; http https; ipv4 ipv6; development production; staging production; dev prod; test production
debug release; train test; online offline; vertical horizontal; row column; inherit compose
inheritance composition; merge rebase; merge squash; merge split; join split; detailed minimal; detailed brief
verbose quiet; verbose concise; verbose terse; default custom; named default; named anonymous
functional imperative; functional object; declarative imperative; class functional; unit integration; mock real
fake real; trust distrust; warn ignore; ignore respect; ignore handle; fail succeed; abort continue; commit revert
upgrade downgrade; approve reject; grant revoke; major minor; primary secondary; primary replica
singlequote doublequote; lead follow; sender receiver; producer consumer; reader writer; encoder decoder; lf crlf
nullable nonnull; signed unsigned; little big; prefix suffix; head tail; weekly daily; daily monthly
erlauben verbieten; vor nach; immer nie; aktivieren deaktivieren; öffentlich privat; avant après
activer désactiver; antes después; activar desactivar; до после; включить выключить; 之前 之后; 启用 禁用
create drop; create remove
"""
# Scales with two ends: any word of one end opposes any of the other.
_SCALES = """
long lengthy verbose wordy detailed descriptive elaborate exhaustive | short brief terse concise compact succinct
big large huge | small tiny little
many multiple several | few
fast quick immediate instant | slow gradual
early upfront beforehand | late afterward
automatic automated | manual hand
real actual live | mock fake stub dummy simulated
beside alongside next | separate apart
exact pinned fixed frozen | range floating loose unpinned
silent quiet mute | loud verbose noisy
strict rigid | lenient loose relaxed permissive
online remote hosted | offline local
allow permit | forbid deny prohibit block
mandatory required compulsory obligatory | optional voluntary
throw raise | return swallow
propagate bubble rethrow | catch swallow handle
"""
OPPOSITES = frozenset(
    frozenset(pair.split()) for line in _OPPOSITES.strip().splitlines() for pair in line.split(";") if pair.strip()
) | frozenset(
    frozenset((one, other))
    for line in _SCALES.strip().splitlines()
    for one in line.partition("|")[0].split()
    for other in line.partition("|")[2].split()
    if one != other
)
# Opposites that exist side by side, each with values of its own.
COUNTERPARTS = frozenset(
    frozenset(pair.split())
    for pair in (
        "frontend backend;client server;staging production;development production;dev prod;test production;"
        "request response;input output;source target;source destination;parent child;sender receiver;"
        "producer consumer;reader writer;encoder decoder;start stop;start end;open close;read write;push pull;"
        "upload download;import export;create delete;add remove;get set;up down;primary replica;primary secondary;"
        "internal external;public private;success failure;unit integration;train test;local remote"
    ).split(";")
)
# Before what is chosen: "use npm", "installed with npm", "pages are functions", "dates in UTC". Marks of one kind stand
# for each other.
MEANS = _words("with via using use uses prefer")
COPULAS = _words("is are")
FORMS = _words("as in")
VALUE_MARKS = MEANS | COPULAS | FORMS | _words("into at by from on under")
# Opens what a statement is limited to.
CIRCUMSTANCES = _words("for when whenever if unless while once during about")

# How much, how often, how strictly: kind and degree, and the phrases of that degree; "#" stands for a number. A mark
# "*" says that the degree takes something away from a statement without any, so that it counts alone too.
_DEGREES = """
bound most *: at most; at max; at maximum; no more than; not more than; up to #; maximum of #; not exceed; never exceed
bound least *: at least; at minimum; no less than; not less than; no fewer than; not fewer than; minimum of #; # or more
bound above *: more than; greater than; longer than; larger than; higher than; over #; above #; exceed
bound below *: less than; fewer than; smaller than; shorter than; lower than; under #; below #
bound exact: exactly; precisely #
bound about: about #; around #; approximately; roughly; nearly #; almost #
part all: all; every; each
part some *: some; some of
part most *: most of; the majority of; most @
part few *: few; a few; hardly any
part many: many; several
choice both: both
choice either: either
amount more: more; increasingly
amount less: less; fewer
strength may *: may; can; could; might; optionally; possibly; perhaps; maybe; allowed to; free to
strength should: should; ought to; shouldnt; should not; ideally; preferably
strength must: must; shall; have to; has to; need to; needs to; required to; mustnt; cannot; cant; can not; may not
strength need not *: need not; neednt; not have to; dont have to; doesnt have to; do not have to; does not have to; \
dont need to; doesnt need to; do not need to; does not need to; not required to
frequency always: always; constantly; every time
frequency usually *: usually; normally; typically; generally; mostly; almost always; nearly always; mainly
frequency often *: often; frequently; regularly
frequency sometimes *: sometimes; occasionally; now and then; from time to time; at times
frequency rarely *: rarely; seldom; hardly; scarcely; barely; infrequently; hardly ever; almost never; nearly never
""".replace("\\\n", "")
# Phrase to kind, degree, and whether the degree counts alone.
DEGREES: dict[tuple[str, ...], tuple[str, str, bool]] = {}
for _line in _DEGREES.strip().splitlines():
    _head, _, _phrases = _line.partition(":")
    _kind, _, _degree = _head.removesuffix(" *").partition(" ")
    for _phrase in _phrases.split(";"):
        DEGREES[tuple(_phrase.split())] = (_kind, _degree, _head.endswith("*"))

# What limits a statement to the word that it stands at.
LIMITING = _words("only just solely exclusively")
# Little words that say how what stands on their two sides belongs together.
RELATORS = (
    PREPOSITIONS
    | SUBORDINATORS
    | _words("of over than as through within is are was were be has have then that which who into versus vs under")
)
# Opens a clause in which "can" and "may" tell what is possible, not what is allowed.
RELATIVE = SUBORDINATORS | _words("that which who whose what how where so as")
