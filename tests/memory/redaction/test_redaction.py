"""Redaction: every secret that has a shape, a telling name or a place, and nothing that only looks like one."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.redaction import shapes
from acemem.memory.redaction.redaction import redact
from tests.secrets_and_lookalikes import (
    CHOSEN,
    GENERATED,
    LOOKALIKES,
    SECRETS,
    TOKENS,
    joined,
    numbers,
    pem,
    some,
)

PASSWORD_LINES = [
    "DB_PASSWORD={}",
    "export PGPASSWORD='{}'",
    'password = "{}"',
    '"db_password": "{}",',
    '\\"password\\": \\"{}\\"',
    "config['password'] = '{}'",
    "  password: {}\n  user: app",
    "the password is {}",
    "The password for the admin account is {}.",
    "**Password:** `{}`",
    "| password | {} |",
    "login --password {}",
    "login --password={}",
    "<password>{}</password>",
    "Server=db;User Id=sa;Password={};Timeout=3",
    "jdbc:x://h/d?user=a&password={}&ssl=1",
    '- name: DB_PASSWORD\n  value: "{}"',
    "mysql -u root -p{} shop",
    "curl -u admin:{} https://example.org",
    "machine h login u password {}",
    "Passwort: {}",
    "la contraseña es {}",
    "пароль: {}",
    "密码：{}",
]
KEY_LINES = [
    "API_KEY={}",
    "api_key: {}",
    "apiKey: '{}'",
    '"client_secret": "{}"',
    "AUTH_TOKEN={}",
    "X-API-Key: {}",
    "DD_APP_KEY={}",
    "the api key is {}",
    "aws_secret_access_key = {}",
    "--token {}",
    "https://example.org/v1?access_token={}&page=2",
    "Authorization: Bearer {}",
    '"Authorization": "token {}"',
    "SECRET_KEY_BASE={}",
]


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_is_known_by_its_shape(name: str) -> None:
    """Wherever it stands, and as a whole."""
    token = TOKENS[name]
    for text in (token, f"use {token} now", f'{{"x":"{token}"}}', f"a\\n{token}\\nb", f"KEY={token}\n", f"({token})"):
        redacted, found = redact(text)
        assert found == 1, text
        assert token[4:-4] not in redacted


@pytest.mark.parametrize("line", PASSWORD_LINES)
def test_a_password_is_known_by_what_it_is_given_to(line: str) -> None:
    """In code, configuration, commands, tables and sentences; the name beside it stays."""
    for value in CHOSEN:
        redacted, found = redact(line.format(value))
        assert found == 1, (line, value)
        assert value not in redacted
        assert "[redacted:" in redacted


@pytest.mark.parametrize("line", KEY_LINES)
def test_a_key_is_known_by_what_it_is_given_to(line: str) -> None:
    """A hash or an identifier that is given to a key or token is a secret, while the same alone is none."""
    for value in GENERATED:
        redacted, found = redact(line.format(value))
        assert found == 1, (line, value)
        assert value not in redacted
        assert redact(value) == (value, 0)


@pytest.mark.parametrize("password", [*CHOSEN[:3], "dev", joined("S3c", "r%40t"), joined("p@ss", "w0rd!")])
@pytest.mark.parametrize(
    "url", ["postgresql://app:{}@db.example.org:5432/x?ssl=1", "https://bob:{}@host/x", "redis://:{}@h"]
)
def test_a_password_in_an_address_goes_and_the_address_stays(url: str, password: str) -> None:
    """Also a short one: nobody writes a password there that is none."""
    text = f"DATABASE={url.format(password)}"
    assert redact(text) == (f"DATABASE={url.format('[redacted:url-password]')}", 1)


def test_a_private_key_goes_as_a_block() -> None:
    """From its first line to its last, in a JSON string too, and when a log has cut its end off."""
    key = pem()
    assert redact(f"before\n{key}\nafter") == ("before\n[redacted:private-key]\nafter", 1)
    assert redact(json.dumps({"private_key": key})) == ('{"private_key": "[redacted:private-key]"}', 1)
    numbered = "\n".join(f"   {n}→{line}" for n, line in enumerate(key.split("\n"), 1))
    assert redact(numbered)[1] == 1
    cut = "\n".join(key.split("\n")[:4])
    assert redact(cut) == ("[redacted:private-key]", 1)


def test_a_basic_header_goes_when_it_holds_user_and_password() -> None:
    """And not where the word Basic only names the scheme."""
    value = base64.b64encode(b"ada:lovelace").decode()
    assert redact(f"Authorization: Basic {value}") == ("Authorization: Basic [redacted:authorization]", 1)
    assert redact("Authorization: Basic authentication") == ("Authorization: Basic authentication", 0)


def test_an_aws_secret_goes_with_its_key() -> None:
    """A 40-character value beside an access key id is its other half."""
    secret = joined(some(20), "/", some(19))
    assert redact(f"{TOKENS['aws id']},{secret}") == ("[redacted:aws-key],[redacted:aws-secret]", 2)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_taken_out_of_what_is_said_around_it(name: str) -> None:
    """As it stands, inside JSON, quoted, in a list, and twice; the sentence around it stays."""
    secret, sentence = SECRETS[name]
    text = sentence.format(secret)
    settings = json.dumps({"a": f"x\n{text}"})
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


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Mail jane.doe@acme-shop.io, please.", "Mail [redacted:email], please."),
        ("<jane@firma.de>", "<[redacted:email]>"),
        ("请联系zhang@corp.cn谢谢", "请联系[redacted:email]谢谢"),
        ("Ask bob@acme-shop.io.Then wait.", "Ask [redacted:email].Then wait."),
        ("user.email=jane%40acme-shop.io&x=1", "user.email=[redacted:email]&x=1"),
        ("jane@acme-shop.io and dev@example.com", "[redacted:email] and dev@example.com"),
        ("jane@build.corp.internal", "[redacted:email]"),
        ("wang@163.com", "[redacted:email]"),
        ("it@acme-shop.pl", "[redacted:email]"),
    ],
)
def test_a_mailbox_goes_as_a_whole(text: str, kept: str) -> None:
    """With its domain, without the signs around it."""
    assert redact(text) == (kept, 1)


def test_a_password_beside_a_mailbox_goes_with_it() -> None:
    """As in the lists that leak: mailbox, colon, password."""
    assert redact(f"jane@acme-shop.io:{CHOSEN[0]}") == ("[redacted:email]:[redacted:password]", 2)


@pytest.mark.parametrize(
    "line",
    [
        "host {}, port 22",
        "{}.",
        "http://{}:8080/a",
        "ssh root@{}",
        "root@{}:/srv",
        "node-{} is down",
        "DATABASE_HOST={}",
        "x\\n{}\\ny",
        "::ffff:{}",
        "{}/24",
        "{}.nip.io",
        "<td>{}</td>",
        "> {}",
        "{}-24 are free",
        "{}.Then wait",
        "see hosts/{}",
    ],
)
@pytest.mark.parametrize("address", [numbers(10, 1, 2, 3), numbers(172, 16, 254, 9), numbers(100, 101, 102, 103)])
def test_an_address_in_a_network_goes_and_its_port_stays(line: str, address: str) -> None:
    """Wherever it stands; what is said about it stays true."""
    assert redact(line.format(address)) == (line.format("[redacted:ip-address]"), 1)


def test_four_small_numbers_are_an_address_only_where_one_is_meant() -> None:
    """Versions and sections have four parts too."""
    four = numbers(3, 4, 5, 6)
    for text in (f"ping {four}", f"http://{four}/", f"{four}:8080", f"root@{four}", f"server at {four}"):
        assert redact(text)[1] == 1, text
    for text in (four, f"v{four}", f"version {four}", f"shop@{four}", f"nginx {four}", f"see section {four}"):
        assert redact(text) == (text, 0)


@pytest.mark.parametrize(
    "line",
    [
        "code is {}",
        "Your OTP is {}.",
        "OTP: {}",
        '"otp": "{}"',
        "otp={}",
        "--otp {}",
        "2FA code {}",
        "2FA: {}",
        "MFA token {}",
        "my one-time password is {}",
        "verification code: {}",
        "The verification code for the bank is {}",
        "{} is your login code",
        "Enter {} as the verification code",
        "the code {} was sent to my phone",
        "my authenticator shows {}",
        "code de vérification est {}",
        "验证码是 {}",
    ],
)
@pytest.mark.parametrize("code", [joined("123", "456"), joined("90", "42", "17"), joined("481", " 516")])
def test_a_one_time_code_is_known_by_what_is_said(line: str, code: str) -> None:
    """In a sentence, a field or an option, in one piece or two; the same number alone stays."""
    assert redact(line.format(code)) == (line.format("[redacted:one-time-code]"), 1)
    assert redact(f"it took {code} steps") == (f"it took {code} steps", 0)


def test_a_list_of_recovery_codes_goes_as_a_whole() -> None:
    """The second is as good as the first."""
    codes = [joined(f"{number}1b2c", "-", "d3e4f") for number in range(1, 9)]
    assert redact(f"The recovery codes: {', '.join(codes)} are safe")[0] == (
        "The recovery codes: [redacted:one-time-code] are safe"
    )


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


def test_the_library_has_the_plugins_in_use() -> None:
    """Each named plugin of detect-secrets gives at least one expression."""
    for module, name, _, strings in shapes.PLUGINS:
        assert shapes.plugin(module, name)
        assert strings.split()


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
    ],
)
def test_redaction_takes_linear_time(piece: str) -> None:
    """A hostile text of 100 kB takes seconds at most, where squares would take minutes."""
    before = time.process_time()
    redact(piece * (100_000 // len(piece)))
    assert time.process_time() - before < 15
