"""The four buckets stand for kinds and scopes."""

from __future__ import annotations

from typing import Any

import pytest

from acemem.memory.buckets import BUCKETS, KIND_OF, REFERENCES, bucket_of, scope_of, section_of
from acemem.memory.insight import (
    KINDS,
    AgentLearningInsight,
    ContextInsight,
    DecisionInsight,
    FailureInsight,
    Insight,
    PatternInsight,
    PreferenceInsight,
    Source,
    UserFactInsight,
)

HERE = "project:shop-123456"


def insight(detail: Any, text: str = "A statement", scope: Any = "project") -> Insight:
    return Insight(detail, text, (Source("k", 1, "s"),), 0.8, scope, "explicit")


@pytest.mark.parametrize(
    ("found", "bucket"),
    [
        (insight(UserFactInsight("writes Go", "expertise", 0.9), scope="user"), "user"),
        (insight(PreferenceInsight("short", "said so"), "Answer in short sentences", "user"), "user"),
        (insight(PreferenceInsight("short", "said so"), "Keep `main.go` short", "user"), "feedback"),
        (insight(PreferenceInsight("tabs", "said so"), "Indent with tabs"), "feedback"),
        (insight(FailureInsight("broke", "cause", "cure")), "feedback"),
        (insight(PatternInsight("test, then push", 2, "")), "feedback"),
        (insight(AgentLearningInsight("make test", "build_command", "ran", 0.9)), "feedback"),
        (insight(DecisionInsight("SQLite", "small", True), "SQLite was chosen over Postgres"), "project"),
        (insight(ContextInsight("fact", 0.9), "The billing tables are partitioned by month"), "project"),
        (insight(ContextInsight("fact", 0.9), "Bugs of the importer are tracked in Linear under INGEST"), "reference"),
        (insight(ContextInsight("fact", 0.9), "The runbook is at https://wiki.example/oncall"), "reference"),
        (insight(ContextInsight("fact", 0.9), "The server listens at http://localhost:8080"), "project"),
        (insight(ContextInsight("fact", 0.9), "The Slack client retries three times"), "project"),
    ],
)
def test_an_insight_belongs_to_one_bucket(found: Insight, bucket: str) -> None:
    assert bucket_of(found) == bucket


def test_only_what_is_the_persons_holds_everywhere() -> None:
    assert {bucket: scope_of(bucket, HERE) for bucket in BUCKETS} == {
        "user": "global",
        "feedback": HERE,
        "project": HERE,
        "reference": HERE,
    }


def test_every_bucket_has_a_kind_and_references_a_heading_of_their_own() -> None:
    assert set(KIND_OF) == set(BUCKETS)
    assert set(KIND_OF.values()) <= set(KINDS)
    assert section_of("reference", "context") == REFERENCES
    assert section_of("project", "context") == "Project facts"
