"""Guards: what keeps near statements apart, what makes them opposites, and what is only worded otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.refine.contradiction import contradicts
from acemem.memory.refine.guards import keeps_apart

OPPOSED = [
    ("Always pin the base image.", "Never pin the base image."),
    ("Retry failed uploads.", "Do not retry failed uploads."),
    ("Retry failed uploads.", "Don't retry failed uploads; report them."),
    ("Failed uploads should be retried.", "Failed uploads should never be retried."),
    ("The seed script is idempotent.", "The seed script is not idempotent."),
    ("Use barrel files for exports.", "Avoid barrel files for exports."),
    ("Push straight to main.", "No longer push straight to main."),
    ("Merge with a green pipeline.", "Merge without a green pipeline."),
    ("Global state is allowed.", "Global state is not allowed."),
    ("Global state is allowed.", "Global state is forbidden."),
    ("Use yarn instead of bun.", "Use bun instead of yarn."),
    ("Prefer fixtures over factories.", "Prefer factories over fixtures."),
    ("Run the formatter before the linter.", "Run the linter before the formatter."),
    ("Copy from staging to local.", "Copy from local to staging."),
    ("Enable telemetry in the desktop build.", "Disable telemetry in the desktop build."),
    ("Keep the client synchronous.", "Keep the client asynchronous."),
    ("Read the settings from disk.", "Write the settings to disk."),
    ("Add the header to answers.", "Remove the header from answers."),
    ("Make the helper public.", "Make the helper private."),
    ("It is safe to drop the view.", "It is unsafe to drop the view."),
    ("Log in the first middleware.", "Log in the last middleware."),
    ("Indent YAML with 2 spaces.", "Indent YAML with four spaces."),
    ("The proxy listens on port 3000.", "The proxy listens on port 3001."),
    ("The worker needs Node 18.2 or newer.", "The worker needs Node 20.1 or newer."),
    ("Backups lie in ap-south-1.", "Backups lie in eu-north-1."),
    ("Migrations live in db/migrate/.", "Migrations live in db/schema/."),
    ("The parser is in lexer.py.", "The parser is in grammar.py."),
    ("Call load_user for lookups.", "Call load_team for lookups."),
    ("Start it with --watch.", "Start it with --once."),
    ("Deploy the dashboard with Fly.", "Deploy the dashboard with Render."),
    ("Verwende immer das alte Schema.", "Verwende nie das alte Schema."),
    ("Utilisez toujours le cache.", "N'utilisez jamais le cache."),
    ("Usa siempre la caché.", "No uses nunca la caché."),
    ("Всегда используйте кэш.", "Никогда не используйте кэш."),
    ("提交前运行测试", "提交前不要运行测试"),
]

DIFFERENT = [
    ("Prefer default exports for hooks.", "Prefer default exports for pages."),
    ("Log failed payments.", "Refund failed payments."),
    ("Install the queue for local runs.", "Configure the queue for local runs."),
    ("Roll the release back with helm rollback api.", "Roll the release back with helm rollback api --wait."),
    ("Wait before the next attempt.", "Wait 30 seconds before the next attempt."),
    ("Write the cache to disk.", "Delete the cache on disk."),
    ("Import the tokens module in the theme.", "Import the tokens module last in the theme."),
    ("Style pages with utility classes.", "Style pages with utility classes, no inline styles."),
]

EXCHANGED = [
    ("Upgrade from Postgres 14 to 16", "Upgrade from Postgres 16 to 14"),
    ("Dates are DD/MM", "Dates are MM/DD"),
    ("Use YYYY-MM-DD dates", "Use YYYY-DD-MM dates"),
    ("Alice reviews Bob's code", "Bob reviews Alice's code"),
    ("Alice reviews Bob's code", "Bob reviews Alice's code daily"),
    ("Replace foo with bar", "Replace bar with foo"),
    ("The client calls the server", "The server calls the client"),
    ("The client calls the server", "The client is called by the server"),
    ("The client calls the server", "The server is calling the client"),
    ("Mock the clock for the cache", "Mock the cache for the clock"),
    ("Lint, then deploy", "Deploy, then lint"),
    ("Build → test", "Test → build"),
    ("Retry at most once.", "Retry at least once."),
    ("Queue up to 3 jobs.", "Queue more than 3 jobs."),
]

DEGREES = [
    ("Tests should hit the real database", "Tests should rarely hit the real database"),
    ("Commit often", "Commit seldom"),
    ("Deploys normally run at night", "Deploys run at night"),
    ("Squash commits", "Do not always squash commits"),
    ("This step may be skipped", "This step must be skipped"),
    ("You should run the linter", "You must run the linter"),
    ("You need not run the linter", "You must run the linter"),
    ("Admins can delete projects", "Admins delete projects"),
    ("All tests use the database", "Some tests use the database"),
    ("Not all tests need the database", "Tests do not need the database"),
    ("Keep three backups", "Keep at least three backups"),
    ("Keep exactly three backups", "Keep about three backups"),
    ("Only admins may delete", "Admins may only delete"),
    ("Only admins may delete projects", "Admins may delete projects"),
    ("Just log errors in the worker", "Log errors just in the worker"),
]

SYMBOLS = [
    ("->", "=>"),
    ("!=", "&&"),
    ("🎉🎉", "👍"),
    ("🎉🎉", "🎉"),
    ("->", "Use"),
    ("Compare with == in templates", "Compare with === in templates"),
    ("Mark finished steps with ✅", "Mark finished steps with ❌"),
]

SAME = [
    ("Run the suite before you push.", "Always run the suite before you push!"),
    ("Run the suite before you push.", "Before you push, run the suite."),
    ("Use the shared client.", "Please use the shared client"),
    ("Use the shared client.", "You must use the shared client."),
    ("Use the shared client.", "**Use the shared client.**"),
    ("Use the shared client.", "- Use the shared client"),
    ("Don't commit generated files.", "Do not commit generated files."),
    ("Validate the payload.", "The payload is validated properly."),
    ("Validate the payload.", "Never skip validation of the payload."),
    ("Document each endpoint.", "Don't forget to document each endpoint."),
    ("Use uv instead of pip for installs.", "For installs use uv, not pip."),
    ("Global state is not allowed.", "Global state is forbidden."),
    ("Indent with two spaces.", "Indent with 2 spaces."),
    ("Keep data sets small.", "Keep datasets small."),
    ("Style it with TailwindCSS.", "Style it with Tailwind CSS."),
    ("Wrap calls in try/catch.", "Wrap calls in try-catch."),
    ("Call `fetchUser()` for lookups.", "Call fetchUser for lookups."),
    ("Put helpers in src/lib/dates.ts.", "Put helpers in lib/dates.ts."),
    ("Store env variables in the vault.", "Store environment variables in the vault."),
    ("Bump provider and module versions.", "Bump module and provider versions."),
    ("Before committing, run the tests.", "Run the tests before committing."),
    ("In production log errors with context.", "Log errors with context in production."),
    ("Copy from staging to local.", "Copy to local from staging."),
    ("The client calls the server.", "The server is called by the client."),
    ("Files are uploaded to the bucket by the worker.", "The worker uploads files to the bucket."),
    ("Run tests on every push.", "Tests run on every push."),
    ("Test error handling.", "Error handling is tested."),
    ("Only use pnpm.", "Use only pnpm."),
    ("You can't push to main.", "You must not push to main."),
    ("Keep the docs up to date.", "Always keep the docs up to date."),
    ("Inject it so that tests replace it.", "Inject it so that tests can replace it."),
    ("Не используйте кэш.", "Никогда не используйте кэш."),
    ("不要使用全局变量", "禁止使用全局变量"),
]

SUBJECTS = st.sampled_from(["retries", "timeouts", "the queue worker", "feature flags", "database migrations", "logs"])
TAILS = st.sampled_from(
    ["in production", "for the billing service", "on every release", "when tests fail", "by default"]
)
VERBS = st.sampled_from(["Use", "Rename", "Rotate", "Document", "Review", "Test"])


@st.composite
def rules(draw: st.DrawFn) -> str:
    """An instruction as they are written: verb, subject, circumstance."""
    return f"{draw(VERBS)} {draw(SUBJECTS)} {draw(TAILS)}."


TEXTS = [text for pair in OPPOSED + DIFFERENT + EXCHANGED + DEGREES + SYMBOLS + SAME for text in pair]
ANYTHING = st.one_of(rules(), st.text(max_size=80), st.sampled_from(TEXTS))


@pytest.mark.parametrize(("a", "b"), OPPOSED)
def test_opposite_advice_is_a_contradiction_and_never_merges(a: str, b: str) -> None:
    """A "not", an opposite word, another number, place or name on one subject contradicts."""
    assert contradicts(a, b)
    assert keeps_apart(a, b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_a_difference_in_what_is_said_keeps_apart_without_contradicting(a: str, b: str) -> None:
    """Another thing, or a demand more, makes two statements of them but not opposites."""
    assert keeps_apart(a, b)
    assert contradicts(a, b) is None


@pytest.mark.parametrize(("a", "b"), EXCHANGED)
def test_the_same_words_the_other_way_round_contradict(a: str, b: str) -> None:
    """What stood before a verb or preposition stands after it, or a bound turned: who does it to whom is the point."""
    assert contradicts(a, b)
    assert keeps_apart(a, b)


@pytest.mark.parametrize(("a", "b"), DEGREES)
def test_another_degree_keeps_apart(a: str, b: str) -> None:
    """How many, how often, how strictly, and what "only" limits: a merge would lose it."""
    assert keeps_apart(a, b)


@pytest.mark.parametrize(("a", "b"), SYMBOLS)
def test_symbols_are_compared_as_they_are(a: str, b: str) -> None:
    """Texts without a word are equal only if written so, and operators and pictures count beside words."""
    assert keeps_apart(a, b)


@given(st.text(st.characters(categories=["S", "P"]), max_size=8), st.text(st.characters(categories=["S"]), max_size=8))
def test_texts_of_symbols_answer_as_others_do(a: str, b: str) -> None:
    """The same from both sides, and nothing keeps one apart from itself."""
    assert keeps_apart(a, b) == keeps_apart(b, a)
    assert keeps_apart(a, a) is None


@pytest.mark.parametrize(("a", "b"), SAME)
def test_other_wording_of_the_same_advice_may_merge(a: str, b: str) -> None:
    """Order, courtesy, form, spelling and doubled negation are no reason to keep apart."""
    assert keeps_apart(a, b) is None
    assert contradicts(a, b) is None


@given(ANYTHING, ANYTHING)
def test_a_guard_does_not_ask_which_statement_came_first(a: str, b: str) -> None:
    """Both answers are the same for (a, b) and (b, a)."""
    assert keeps_apart(a, b) == keeps_apart(b, a)
    assert contradicts(a, b) == contradicts(b, a)


@given(ANYTHING)
def test_nothing_keeps_a_statement_apart_from_itself(a: str) -> None:
    """Nor from itself with spaces around it."""
    assert keeps_apart(a, a) is None
    assert keeps_apart(a, f" {a} ") is None
    assert contradicts(a, a) is None


@given(ANYTHING, ANYTHING)
def test_a_contradiction_is_always_a_reason_to_keep_apart(a: str, b: str) -> None:
    """What contradicts does not merge."""
    if contradicts(a, b):
        assert keeps_apart(a, b)


@given(rules(), st.sampled_from(["Do not ", "Never ", "Don't "]))
def test_a_negated_rule_contradicts_the_rule(rule: str, negator: str) -> None:
    """Whatever the rule is about."""
    assert contradicts(rule, negator + rule[0].lower() + rule[1:])


@given(rules(), st.integers(2, 9_999), st.integers(2, 9_999))
def test_one_changed_number_contradicts(rule: str, first: int, second: int) -> None:
    """The number in an otherwise equal sentence is the sentence's point."""
    texts = [f"{rule[:-1]}, at most {number} at once." for number in (first, second)]
    assert (contradicts(*texts) is None) == (first == second)


@given(rules(), st.sampled_from(["Please ", "Always ", "You should ", "Make sure to ", "- ", "1. "]))
def test_courtesy_and_layout_change_nothing(rule: str, opening: str) -> None:
    """An opening that says nothing of its own is no difference."""
    assert keeps_apart(rule, opening + rule[0].lower() + rule[1:]) is None


@given(rules(), rules())
def test_two_rules_that_differ_in_a_word_do_not_merge(a: str, b: str) -> None:
    """Each verb, subject and circumstance of these rules stands for itself."""
    if a != b:
        assert keeps_apart(a, b)


def test_a_reason_names_the_parts_that_differ() -> None:
    """So that a person sees at a glance why two statements stayed two."""
    assert keeps_apart("The proxy listens on port 3000.", "The proxy listens on port 3001.") == '"3000" against "3001".'
    assert contradicts("Make it public.", "Make it private.") == '"private" is the opposite of "public".'
    assert contradicts("Always squash commits.", "Never squash commits.") == (
        'One of them negates "squash", the other does not.'
    )
    assert keeps_apart("Prefer tabs for Go.", "Prefer tabs for Java.") == '"Go" against "Java".'


def test_long_statements_are_compared_in_their_time() -> None:
    """Two of the longest bullets there can be, made of one repeated character or of many words, do not stall refine."""
    for text in ("a" * 2_000, "a@" * 1_000, "word " * 400, "x/" * 1_000, "no " * 600, "(" * 2_000):
        assert keeps_apart(text, text + " and 7 more") is not None
