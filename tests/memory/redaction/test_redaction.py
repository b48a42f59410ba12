"""Redaction: every secret that has a shape, a telling name or a place, and nothing that only looks like one."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.redaction.redaction import redact
from tests.secrets_and_lookalikes import (
    CHOSEN,
    GENERATED,
    IN_PROSE,
    LOOKALIKES,
    SECRETS,
    TOKENS,
)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_taken_out_of_what_is_said_around_it(name: str) -> None:
    """As it stands, inside JSON, quoted, in a list, and twice; the sentence around it stays."""
    secret, sentence = SECRETS[name]
    text = sentence.format(secret)
    settings = json.dumps({"a": f"x\n{text}"}, ensure_ascii=name not in IN_PROSE)
    for told in (text, settings, f"> {text}", f"`{text}`", f"- **{text}**\n", f"{text}\n{text}"):
        redacted, found = redact(told)
        assert found >= 1, told
        assert secret not in redacted, told
        assert redact(redacted) == (redacted, 0)
    if name != "private key":  # which goes from its first line to its last
        words, kept = text.split(), redact(text)[0].split()
        assert secret in words[0] or kept[0] == words[0]
        assert secret in words[-1] or kept[-1] == words[-1]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_is_no_secret_stays(text: str) -> None:
    """Hashes, identifiers, images, code that refers to secrets, placeholders and plain talk of them."""
    assert redact(text) == (text, 0)


def test_the_corpus_is_as_large_as_promised() -> None:
    """At least 40 shapes of secrets and 200 strings that are none, each once."""
    assert len({secret for secret, _ in SECRETS.values()}) == len(SECRETS) >= 40
    assert len(set(LOOKALIKES)) == len(LOOKALIKES) >= 200


@given(
    st.lists(
        st.one_of(
            st.sampled_from([*TOKENS.values(), *CHOSEN, *GENERATED, "[redacted:", "]", "://u:"]),
            st.sampled_from([secret for secret, _ in SECRETS.values()]),
            st.sampled_from(
                ["OTP: ", "code is ", "a@b.io", "10.1.2.3", ":", "-", ".", "2a01:4f8::", "%40", "backup codes: "]
            ),
            st.sampled_from(
                ["password=", "token: ", "api_key='", "'", '"', "\n", "\\n", "@", " is ", ",", "secret", "=", " "]
            ),
            st.text(max_size=8),
        ),
        max_size=12,
    ).map("".join)
)
def test_redacting_twice_changes_nothing(text: str) -> None:
    """So text may be redacted on the way in and again on the way out."""
    redacted, found = redact(text)
    assert redact(redacted) == (redacted, 0)
    assert found or redacted == text


def test_ordinary_text_does_not_load_the_library() -> None:
    """The detectors are imported when a text holds something that only they know."""
    code = (
        "import sys; from acemem.memory.redaction.redaction import redact;"
        "redact('Use pnpm instead of npm; password: string, see https://example.org/a?b=c#d');"
        "sys.exit('detect_secrets' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "-----BEGIN " + "PRIVATE KEY-----\n",
        "://a:b",
        "glpat-",
        "AKIA",
        "xoxb-1-",
        "password=a.",
        "key",
        "a1B2c3",
        "curl -u a",
        "a@",
        "a.b@c.",
        "a@b.io",
        "%40a",
        "1.2.3.",
        "10.1.2.3 ",
        "2a01:",
        "2a01::",
        "OTP is ",
        "backup codes: 12345678 ",
        "one-time code for a ",
        "code 123456 is your ",
        "a:b1c2d3e4@",
        "ip-",
        "log in with a / ",
        "user ",
        "user a and password ",
        "credentials for a b c ",
        "use a1!Bcd for the a ",
        "password for a b c ",
        "a1!bcd is password ",
        "a1!bcd",
    ],
)
def test_redaction_takes_linear_time(piece: str) -> None:
    """A hostile text of 100 kB takes seconds at most, where squares would take minutes."""
    before = time.process_time()
    redact(piece * (100_000 // len(piece)))
    assert time.process_time() - before < 15
