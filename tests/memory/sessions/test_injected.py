"""Injected spans are cut from every text."""

from __future__ import annotations

import time

import pytest

from acemem.memory.sessions.injected import without_injected


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("plain <b>text</b>", "plain <b>text</b>"),
        ('before <mem v="1">- a rule\n- another</mem> after', "before  after"),
        ("<mem>old marker</mem>x", "x"),
        ('a<mem v="1">one</mem>b<mem v="2">two</mem>c', "abc"),
        ('a <mem v="1">cut off her', "a "),
        ('a &lt;mem v="1"&gt;- a rule\n&lt;/mem&gt; b &lt;mem v="1"&gt;cut', "a  b "),
        ("a &lt;memory&gt; b", "a &lt;memory&gt; b"),
        ("a <system-reminder>b</system-reminder> c", "a  c"),
        ("out\n<system-reminder>\nb", "out\n"),
        ("member <memory> </memory>", "member <memory> </memory>"),
        ("why is <system-reminder> in my log?", "why is <system-reminder> in my log?"),
        ("x <system-reminder>a</system-reminder> y\n<system-reminder>b", "x  y\n"),
    ],
)
def test_spans_are_cut(text, left):
    """Our own spans and the agent's reminders are cut; an unclosed one runs to the end, the tag in prose stays."""
    assert without_injected(text) == left


@pytest.mark.parametrize(
    "part", ["<system-reminder> ", '<mem v="1"', "<mem ", "<mem>", "&lt;mem v=", "</system-reminder>"]
)
def test_hostile_texts_take_linear_time(part):
    """A text full of opening marks is cut in linear time."""
    started = time.perf_counter()
    without_injected(part * 200_000)
    assert time.perf_counter() - started < 2
