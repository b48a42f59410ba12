"""Redaction: every secret that has a shape or a telling name, and nothing that only looks like one.

No secret stands in this file: each is put together when the test runs, so that no scanner stops at it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory import redaction
from acemem.memory.redaction import redact

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


def some(length: int, alphabet: str = LETTERS) -> str:
    """Random characters, the same in every run."""
    return "".join(random.Random(f"{length}{alphabet}").choices(alphabet, k=length))


def joined(*parts: str) -> str:
    return "".join(parts)


def jwt() -> str:
    header, payload = ({"alg": "HS256", "typ": "JWT"}, {"sub": "42", "name": "Ada"})
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, payload)]
    return ".".join([*parts, some(43)])


def pem(kind: str = "RSA ") -> str:
    name = joined(kind, "PRIVATE", " KEY")
    body = "\n".join(some(64 + line)[:64] for line in range(5))
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


TOKENS = {
    "github": joined("gh", "p_", some(36)),
    "github fine-grained": joined("github", "_pat_", some(22), "_", some(59)),
    "gitlab": joined("gl", "pat-", some(20)),
    "slack bot": joined("xo", "xb-", "123456789012-1234567890123-", some(24)),
    "slack app": joined("xa", "pp-1-A0123456-1234567-", some(40, HEX)),
    "stripe": joined("sk", "_live_", some(24)),
    "stripe test": joined("sk", "_test_", some(40)),
    "webhook": joined("wh", "sec_", some(32)),
    "openai": joined("s", "k-", some(48)),
    "openai project": joined("s", "k-proj-", some(60)),
    "anthropic": joined("s", "k-ant-api03-", some(90)),
    "hugging face": joined("h", "f_", some(34)),
    "npm": joined("np", "m_", some(36)),
    "pypi": joined("py", "pi-AgEIcHlwaS5vcmc", some(80)),
    "telegram": joined("1234", "56789:AA", some(33)),
    "twilio": joined("S", "K", some(32, HEX)),
    "sendgrid": joined("S", "G.", some(22), ".", some(43)),
    "google": joined("AI", "za", some(35)),
    "google oauth": joined("GOC", "SPX-", some(28)),
    "aws id": joined("AK", "IA", some(16, UPPER)),
    "aws session id": joined("AS", "IA", some(16, UPPER)),
    "digitalocean": joined("do", "p_v1_", some(64, HEX)),
    "vault": joined("hv", "s.", some(90)),
    "docker": joined("dck", "r_pat_", some(27)),
    "mailchimp": joined(some(32, HEX), "-us", "12"),
    "jwt": jwt(),
}

CHOSEN = [
    joined(*parts) for parts in (("hun", "ter2"), ("Tr0ub", "4dor&3"), ("Zx8", "1!kk"), ("xK9#mP2", "$vL5nQ8wR3"))
]
GENERATED = [some(32), some(40, HEX), some(32, HEX), "-".join(some(n, HEX) for n in (8, 4, 4, 4, 12))]
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

INNOCENT = [
    f"commit {some(40, HEX)}",
    f"{some(7, HEX)} Rotate the signing keys",
    f"actions/checkout@{some(40, HEX)} # v4.1.1",
    f"FROM python@sha256:{some(64, HEX)}",
    "123e4567-e89b-42d3-a456-426614174000",
    f'"requestId": "req_{some(24)}", "id": "msg_{some(24)}"',
    f"data:image/png;base64,iVBORw0KGgo{base64.b64encode(some(900).encode()).decode()}",
    f'"signature": "{base64.b64encode(some(200).encode()).decode()}"',
    f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(b"a").digest()).decode()}"',
    f"github.com/pkg/errors v0.9.1 h1:{base64.b64encode(hashlib.sha256(b'a').digest()).decode()}",
    f'checksum = "{some(64, HEX)}"',
    f"    --hash=sha256:{some(64, HEX)} \\",
    "token==0.7.0",
    '"jsonwebtoken": "^9.0.2", "js-tokens": "4.0.0"',
    "password: string;",
    "password: z.string().min(8).max(100)",
    "const token = await getToken();",
    "api_key=os.environ['OPENAI_API_KEY2']",
    "let apiKey = process.env.STRIPE_KEY2;",
    "secret = crypto.randomBytes(32).toString('hex')",
    "token = config.token2",
    "Authorization: Bearer <token>",
    'curl -H "Authorization: Bearer $TOKEN" https://example.org',
    "Authorization: Bearer YOUR_API_TOKEN_HERE",
    "NPM_TOKEN: ${{ secrets.NPM_TOKEN }}",
    "DB_PASSWORD=${DB_PASSWORD:-postgres}",
    "API_KEY=your-key-here",
    "password: ********",
    "max_tokens: 4096, eos_token: '<|endoftext|>', pad_token_id=50256",
    "next_page_token: 'CAEQAA12345678'",
    "The password must be at least 8 characters.",
    "password is hashed with argon2id",
    "the secret is 256-bit",
    "api key is in .env.local2",
    "--- PASS: TestLogin2 (0.00s)",
    "password: /run/secrets/db_password_1",
    "arn:aws:secretsmanager:us-east-1:123456789012:secret:MySecret-a1b2c3",
    "export PWD=/home/me/project2",
    joined("const API_", "KEY_HEADER = 'x-api-key2'"),
    "SECRET_NAME=my-app-secret",
    "public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + some(30),
    "git@github.com:org/repo.git",
    "http://localhost:3000/@scope/pkg",
    "https://example.com:8080?email=a@b.com",
    joined("postgres://user:pass", "word@localhost/db"),
    "https://<user>:<pass>@host",
    "postgresql://${DB_USER}:${DB_PASS}@${HOST}/db",
    "dev@example.com",
    "tokens starting with sk-ant-api03- are keys of Anthropic",
    joined("gh", "p_", "x" * 36),
    "sk-toggleable__label-arrow",
    "-----BEGIN PUBLIC KEY-----\n" + some(64) + "\n-----END PUBLIC KEY-----",
    'if "-----BEGIN RSA ' + 'PRIVATE KEY-----" in text:',
    '!function(e){var n={password:e.password,token:t.token1,apiKey:r.k2};n.secret=o(i2),a.key="ab12"}();',
    "0xdeadbeefcafebabe v1.2.3-beta.4+build.5678 2024-01-15T10:30:00.000Z",
    "Keep secrets out of logs, rotate API keys every 90 days, never commit passwords.",
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


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays(text: str) -> None:
    """Hashes, identifiers, images, code that refers to secrets, placeholders and plain talk of them."""
    assert redact(text) == (text, 0)


@given(
    st.lists(
        st.one_of(
            st.sampled_from([*TOKENS.values(), *CHOSEN, *GENERATED, "[redacted:", "]", "://u:"]),
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
    for module, name, _, strings in redaction._PLUGINS:
        assert redaction._plugin(module, name)
        assert strings.split()


def test_ordinary_text_does_not_load_the_library() -> None:
    """The detectors are imported when a text holds something that only they know."""
    code = (
        "import sys; from acemem.memory.redaction import redact;"
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
    ],
)
def test_redaction_takes_linear_time(piece: str) -> None:
    """A hostile text of 100 kB takes seconds at most, where squares would take minutes."""
    before = time.process_time()
    redact(piece * (100_000 // len(piece)))
    assert time.process_time() - before < 15
