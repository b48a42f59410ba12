"""Contradictions: opposite advice on one subject in one circumstance, and what only looks like it."""

from __future__ import annotations

import pytest

from acemem.memory.refine.contradiction import KINDS, contradicts
from acemem.memory.refine.guards import keeps_apart

# By kind of difference: what a negation denies whole, another means for the same end, ends of one scale, phrases.
OPPOSED = [
    ("Confirm with the owner before dropping a table.", "Drop a table without confirming with the owner."),
    ("Trim trailing spaces on save.", "On save trailing spaces stay; no trimming."),
    ("Report a missing key; do not guess it.", "Guess a missing key."),
    ("Use moment for dates.", "Dates are handled with luxon."),
    ("Send the report as CSV.", "Send the report in plain text."),
    ("Use generic views for admin pages.", "Admin pages are template views."),
    ("Release notes should be exhaustive.", "Release notes should be brief."),
    ("Versions are bumped by hand.", "Versions are bumped automatically."),
    ("Turn on source maps for the build.", "Turn off source maps for the build."),
    ("Editing the schema by the console is off limits.", "Edit the schema by the console."),
    ("Keep fixtures out of the bundle.", "Keep fixtures in the bundle."),
    ("The lock expires after 30 seconds.", "The lock expires after 5 minutes."),
    ("Metrics are pushed to CleverlyCloud.", "Metrics are pushed to Honeycomb."),
]

# One subject and two circumstances, an exception, a reason, a thing beside it.
COMPATIBLE = [
    ("Use four spaces for Python.", "Use two spaces for YAML."),
    ("Do not stub the mailer in contract tests.", "Stub the mailer in widget tests."),
    ("Delete snapshots after the release.", "Do not delete signed snapshots."),
    ("Seed the clock in the report test.", "The report test is flaky because the clock is not seeded."),
    ("The client lives in apps/mobile.", "The server lives in apps/core."),
    ("Never log tokens.", "Rotate tokens every week."),
    ("Never use any shortcut.", "Use the shortcut table for the editor's commands."),
    ("Do not hand-edit files under gen/.", "Files under gen/ come from make gen."),
    ("Lint on commit.", "Lint in the pipeline as well."),
]


@pytest.mark.parametrize(("a", "b"), OPPOSED)
def test_following_one_means_not_following_the_other(a: str, b: str) -> None:
    """Whichever comes first; and what contradicts never merges."""
    assert contradicts(a, b)
    assert contradicts(a, b) == contradicts(b, a)
    assert keeps_apart(a, b)


@pytest.mark.parametrize(("a", "b"), COMPATIBLE)
def test_both_can_be_followed(a: str, b: str) -> None:
    """They share words, and not the point."""
    assert contradicts(a, b) is None


def test_a_kind_of_difference_can_be_left_out() -> None:
    """As the benchmark does to measure what each is worth."""
    pair = ("The proxy listens on port 3000.", "The proxy listens on port 3001.")
    assert contradicts(*pair)
    assert contradicts(*pair, without=("numbers",)) is None
    assert contradicts(*pair, without=set(KINDS) - {"numbers"})


def test_long_statements_are_judged_in_their_time() -> None:
    """Two of the longest bullets there can be do not stall a prompt or refine."""
    for text in ("a" * 2_000, "word " * 400, "x/" * 1_000, "no " * 600, "keep " * 400, "turn off " * 220):
        contradicts(text, text + " and 7 more")
