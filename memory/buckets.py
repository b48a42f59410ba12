"""Buckets: the four drawers of a memory, and the kinds and scopes that each stands for.

`user` is who the person is, their role and what they want everywhere; `feedback` how to work, from corrections,
confirmations, and what failed or succeeded; `project` what was decided and is so here; `reference` where something is
kept outside the repository. Claude Code sorts its own memories by the same four.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

from acemem.memory.insight import Insight, Kind
from acemem.memory.models import SECTIONS
from acemem.memory.scope import GLOBAL

Bucket = Literal["user", "feedback", "project", "reference"]
BUCKETS: tuple[Bucket, ...] = get_args(Bucket)

REFERENCES = "References"

# What a bare statement becomes when only its bucket is known.
KIND_OF: dict[Bucket, Kind] = {
    "user": "user_fact",
    "feedback": "preference",
    "project": "context",
    "reference": "context",
}

# Code, paths, identifiers, flags, and words that point: no project but the one they were said in has what they name.
_OF_A_PROJECT = re.compile(
    r"`|\w/\w|\w\.\w|\w_\w|(?-i:[a-z][A-Z])|(?<!\w)--?\w|\(\)|\d"
    r"|\b(?:this|these|those|that|it|its|them|here"
    r"|the (?:project|repo\w*|app|code\w*|user|file|test|method|class|function)s?)\b",
    re.IGNORECASE,
)
# An address that is not of this machine, or a name of the kind of system in which teams keep what is not code.
_OUTSIDE = re.compile(
    r"\bhttps?://(?!localhost|127\.|0\.0\.0\.0|\[::1\])"
    r"|\b(?:jira|linear|confluence|notion|slack|grafana|datadog|sentry|pagerduty|figma|google (?:docs?|drive|sheets?)"
    r"|wiki|dashboard|runbook|issue tracker|ticket system)\b",
    re.IGNORECASE,
)
# Said of such a system: that something is found there.
_FOUND_THERE = re.compile(
    r"\b(?:tracked|kept|lives?|documented|found|stored|listed|described|logged|filed|reported|see|look(?: it)? up"
    r"|source of truth|is (?:in|at|on)|are (?:in|at|on))\b",
    re.IGNORECASE,
)


def bucket_of(insight: Insight) -> Bucket:
    """Where an insight belongs.

    A preference travels with the person only when it names or points at nothing of one project.
    """
    match insight.type:
        case "user_fact":
            return "user" if insight.scope == "user" else "project"
        case "preference" if insight.scope == "user" and _OF_A_PROJECT.search(insight.text) is None:
            return "user"
        case "context" | "decision":
            points_outside = _OUTSIDE.search(insight.text) and _FOUND_THERE.search(insight.text)
            return "reference" if points_outside else "project"
        case _:
            return "feedback"


def scope_of(bucket: Bucket, project_scope: str) -> str:
    """Where a bucket's statements hold: the person's everywhere, all others in their project."""
    return GLOBAL if bucket == "user" else project_scope


def section_of(bucket: Bucket, kind: Kind) -> str:
    """The heading under which they stand."""
    return REFERENCES if bucket == "reference" else SECTIONS[kind]
