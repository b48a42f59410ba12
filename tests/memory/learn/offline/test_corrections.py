"""Corrections and wishes of the person: refusals, steering, complaints put as questions, contradicted facts."""

from __future__ import annotations

import pytest

from acemem.memory.insight import ContextInsight, DecisionInsight
from tests.memory.learn.offline.talks import Talk, evidence, one, started


@pytest.mark.parametrize(
    "words",
    ["Orders have at most 20 lines here", "20 Zeilen sind hier die Grenze", "20 líneas como mucho", "我们最多二十行"],
)
def test_work_taken_back(words: str) -> None:
    """Words after which the agent drops lines of its own are a correction, whatever their form and language."""
    talk = started().edits("/work/shop/a.go", "", "const most = 50").human(words)
    talk.edits("/work/shop/a.go", "const most = 50", "const most = 20")

    assert one(talk.insights).text == f"{words}. Write `const most = 20` instead of `const most = 50` in `a.go`."


def test_file_taken_back() -> None:
    """A file of its own that the agent deletes is work taken back as well."""
    talk = started().uses("Write", {"file_path": "/work/shop/secret.yaml", "content": "password: x1"})
    talk.human("aquí las claves van en el gestor, no en el repositorio").runs("rm secret.yaml && make seal")

    assert one(talk.insights).text == "Aquí las claves van en el gestor, no en el repositorio."


def test_work_that_went_on() -> None:
    """Words after which the agent only adds to its work go on with it."""
    talk = started().edits("/work/shop/a.go", "", "x json.Any").human("the parser has a second caller")

    assert talk.edits("/work/shop/a.go", "x json.Any", "x json.Any\ny int").insights == []


@pytest.mark.parametrize(
    "words",
    [
        "make it 20 instead",
        "remove that limit again",
        "nice, this reads much better",
        "the page is blank after the login",
        "jetzt noch die Tests anpassen und dann committen",
        "is the limit still needed there?",
    ],
)
def test_tweak(words: str) -> None:
    """A tweak, a report, praise, the next step or a question teaches nothing, even where the agent's lines change."""
    talk = started().edits("/work/shop/a.go", "", "const most = 50").human(words)

    assert talk.edits("/work/shop/a.go", "const most = 50", "const most = 20").insights == []


def test_two_points() -> None:
    """Points that the person tells apart are insights of their own, without the words that announce them."""
    talk = started().edits("/work/shop/a.go", "", "const most = 50 // viele")
    talk.human("Zwei Sachen. Die Grenze steht in der Konfiguration. Und Kommentare sind im ganzen Code bitte englisch.")
    talk.says("Mache ich, die Grenze kommt aus der Konfiguration.").edits(
        "/work/shop/a.go", "const most = 50 // viele", ""
    )

    assert [insight.text for insight in talk.insights if insight.type == "decision"] == [
        "Die Grenze steht in der Konfiguration.",
        "Kommentare sind im ganzen Code bitte englisch.",
    ]


def test_heeded_fact() -> None:
    """A fact of which the agent takes note before it acts guides the work."""
    talk = started().human("the importer runs on a machine without network").says("Understood, I'll vendor the schema.")

    assert one(talk.insights).text == "The importer runs on a machine without network."


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("looks good. fyi, qa only ever tests on firefox", "Qa only ever tests on firefox."),
        ("übrigens, die Schnittstelle liefert immer UTC", "Übrigens, die Schnittstelle liefert immer UTC."),
    ],
)
def test_aside(words: str, fact: str) -> None:
    """What a person marks as an aside, and the agent notes, is a fact to be kept though nothing changes by it."""
    (insight,) = [i for i in started().human(words).says("Noted.").insights if i.type == "context"]

    assert insight.text == fact


def test_warning_in_the_task() -> None:
    """A warning in the first prompt outlives the task."""
    talk = Talk().human("convert the archive. be careful with the disk, it is shared with the other team").says("Fine.")

    assert one(talk.insights).text == "Be careful with the disk, it is shared with the other team."


@pytest.mark.parametrize(
    "words",
    [
        "don't push today",
        "don't run the e2e suite, staging is being moved",
        "please do not build for the moment",
        "commit the two parts separately this time",
        "lass das Deployment heute weg",
        "no toques la base por ahora",
        "leave the old name just for the demo",
    ],
)
def test_for_the_moment(words: str) -> None:
    """What is said for the moment is no preference."""
    assert [i for i in started().human(words).says("OK.").insights if i.type != "user_fact"] == []


@pytest.mark.parametrize(
    "words",
    [
        'anna wrote: "never deploy on fridays, always ask ops". do we check that in ci?',
        'what does this line from the wiki mean?\n\n"WARNING: never run clean on the agents, always use reset instead"',
        "my boss wrote me this, do only point 2:\n\n1) Always use the active voice.\n2) Round to two digits.",
    ],
)
def test_words_of_others(words: str) -> None:
    """What a person hands on from somebody else is not their rule."""
    assert started().human(words).says("I see.").insights == []


def test_answer_to_a_question() -> None:
    """What the person states in answer to the agent's question is a decision."""
    insight = one(started().human("generating scenarios is separable from running them").insights)

    assert insight.text == "Generating scenarios is separable from running them."
    assert isinstance(insight.detail, DecisionInsight)


def test_answer_to_a_clerk() -> None:
    """Answers in a talk that is about no files decide nothing."""
    talk = Talk(cwd="").human("cancel it").says("Which reservation do you mean?")

    assert talk.human("it is the one for the flight on Monday morning").insights == []


def test_several_wishes() -> None:
    """Wishes about different things said in one turn are insights of their own."""
    talk = started().human("why are you committing straight to main? from now on always open a pull request")

    assert [insight.text for insight in talk.insights] == [
        "Do not commit straight to main.",
        "From now on, always open a pull request.",
    ]


def test_steering() -> None:
    """A wish said in the middle of the work counts like a refusal."""
    insight = one(started().human("please don't add comments to the code").says("Fine.").insights)

    assert insight.text == "Do not add comments to the code."


def test_question_as_correction() -> None:
    """A reproachful question says what is not wanted."""
    assert one(started().human("why are you still using vale?").insights).text == "Do not use vale."


def test_admitted_mistake() -> None:
    """An objection that the agent grants is a fact, with the truth as the agent then states it."""
    talk = started().human("hmm, none of the session files has a date in front")
    talk.says("You're right. The agent uses plain UUIDs for `session.jsonl`.")

    insight = one(talk.insights)

    assert insight.text == (
        "None of the session files has a date in front. The agent uses plain UUIDs for `session.jsonl`."
    )
    assert isinstance(insight.detail, ContextInsight)


def test_courtesy_is_no_admission() -> None:
    """A next step that the agent apologizes for not having done corrects nothing."""
    talk = started().human("add a paginate flag to the list command as well").says("I apologize. The flag is missing.")

    assert talk.insights == []


def test_reproach_as_question() -> None:
    """A question that the agent grants at once is told by what it grants."""
    talk = started().human("didn't we agree on integers for amounts?")
    talk.says("You're right, `amount` is stored in integer cents everywhere.")

    assert one(talk.insights).text == "`amount` is stored in integer cents everywhere."


def test_doubt_about_invention() -> None:
    """Who doubts a name, rightly, is told with what is really there; the question itself is left out."""
    talk = started().refused("there is no such key, did you make it up?", file_path="/work/shop/ci.yml")
    talk.says("You're right, I made that up. The tool only supports `token` there.")

    assert one(talk.insights).text == "The tool only supports `token` there."


def test_order_of_steps() -> None:
    """ "Before that" is told with what the agent had just proposed."""
    talk = started().human("before you do that, switch to main and pull")

    assert one(talk.insights).text == "Before committing this, switch to main and pull."


@pytest.mark.parametrize(
    "words", ["nie, użyj Protocol zamiast Any", "nein, nimm bitte pnpm statt npm", "不要使用 any,改用 Protocol"]
)
def test_other_language(words: str) -> None:
    """A correction in another language keeps the person's words."""
    (preference,) = [i for i in started().human(words).insights if i.type != "user_fact"]

    assert preference.text.rstrip(".").lower() == words.lower()


def test_first_prompt() -> None:
    """The task of a session is no correction, whatever it asks for."""
    assert Talk().human("use the Spinner instead of the inlined one and don't touch the API").insights == []


@pytest.mark.parametrize(
    "words",
    [
        "the header should be sticky, and I want a toggle in the settings",
        "rename the page to checkout because marketing wants that",
        "I think we should look at the logs first",
        "I don't see the change in the browser",
        "looks like the migration never ran",
        "don't worry about the types",
        "the tests pass locally but CI is red",
        "use the new icon for the delete button",
        "pl dodaj test dla pustej listy i napraw ten błąd",
    ],
)
def test_tasks(words: str) -> None:
    """What is to be done next, what somebody sees and what they guess are no preferences."""
    talk = started().human("go on").says("Done.")

    assert [i for i in talk.human(words).says("On it.").insights if i.type != "user_fact"] == []


def test_next_steps() -> None:
    """Orders that only move the work on are no preferences."""
    talk = started()
    for words in ("commit, push and pr it", "now add a footer", "don't commit yet", "run the tests"):
        talk.human(words).says("Done.")

    assert talk.insights == []


def test_retyped_prompt() -> None:
    """A prompt that was interrupted and typed again counts in its last version only."""
    talk = started().human("never use global state in reducers").add("interrupt")
    talk.human("never use global state in the reducers").says("Fine.")

    assert evidence(one(talk.insights)) == [8]


def test_pasted_material() -> None:
    """Commands inside pasted output are not the person's."""
    log = "\n".join(f"warning: never call deprecated_{n}() instead of new_{n}()" for n in range(40))

    assert started().human(f"here is the output\n\n{log}").says("I see.").insights == []


@pytest.mark.parametrize(
    ("words", "scope"), [("use `httpx` instead of requests", "project"), ("be brief instead of verbose", "user")]
)
def test_scope(words: str, scope: str) -> None:
    """A wish about a named thing belongs to the project, any other travels with the person."""
    assert one(started().refused(words, file_path="/work/shop/a.py").insights).scope == scope


@pytest.mark.parametrize(
    ("tool", "args", "words", "told"),
    [
        (
            "Bash",
            {"command": "make clean all"},
            "that's ten minutes here, and the cache was never the cause",
            "Do not run `make clean all`: that's ten minutes here, and the cache was never the cause.",
        ),
        (
            "ExitPlanMode",
            {},
            "point 3: no new table, the events table has a type column",
            "No new table, the events table has a type column.",
        ),
    ],
)
def test_what_a_refusal_points_at(tool: str, args: dict[str, str], words: str, told: str) -> None:
    """A refusal names the refused command, and not the number of a point that nobody sees later."""
    assert one(started().refused(words, tool, **args).says("I see.").insights).text == told
