"""Secrets taken out of text before it reaches a model or the store, and again on the way out.

Two ways of finding them. A *shape* is recognised by itself: a GitHub token, a private key block, a password in a URL;
the shapes are those of detect-secrets, plus our own where it has none or asks for more than a log gives. An
*assignment* is a name that speaks of a secret with a value that looks like one: `DB_PASSWORD=…`, "the password is …".
The value decides, never the name: `password: string`, `token = config.token` and `your-key-here` stay. High entropy
alone is no evidence, since hashes, identifiers and images have it too.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import re
from collections.abc import Iterable, Iterator
from functools import cache

__all__ = ["redact"]

_MARK = "[redacted:"
# Redacting can lay bare the edge of a further secret, so passes run until one finds nothing; a hostile text that lays
# bare one at a time is stopped here.
_PASSES = 8

# What services put before a random part so that scanners find their keys. Kinds of few users share "api-token".
_PREFIXES: tuple[tuple[str, str], ...] = (
    ("github-token", "github_pat_"),
    ("bitbucket-token", "ATBB ATATT3"),
    ("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxb- xoxe.xoxp- xoxo- xoxp- xoxr- xoxs- xapp-"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_"),
    ("webhook-secret", "whsec_"),
    ("anthropic-key", "sk-ant-"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-"),
    ("openrouter-key", "sk-or-"),
    ("huggingface-token", "hf_ api_org_"),
    ("npm-token", "npm_"),
    ("rubygems-key", "rubygems_"),
    ("docker-token", "dckr_pat_ dckr_oat_"),
    ("google-key", "AIza GOCSPX- ya29."),
    ("vault-token", "hvs. hvb. hvr."),
    ("grafana-token", "glsa_ glc_"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_"),
    ("square-token", "sq0atp- sq0csp- EAAA"),
    ("supabase-key", "sbp_ sb_secret_"),
    ("age-key", "AGE-SECRET-KEY-1"),
    (
        "api-token",
        "r8_ gsk_ xai- pplx- lsv2_pt_ lsv2_sk_ tvly- dop_v1_ doo_v1_ dor_v1_ dapi dp.pt. dp.st. dp.ct. dp.sa. pul- "
        "lin_api_ lin_oauth_ ntn_ secret_ figd_ xkeysib- xsmtpsib- re_ NRAK- sntrys_ sntryu_ phx_ tskey- pscale_ "
        "dt0c01. PMAK- sqp_ sqa_ squ_ HRKU- CCIPAT_ bkua_ CFPAT- ops_eyJ LTAI AKID EAACEdEose0cBA",
    ),
)

# kind, strings of which one must be in the text (a plain search is a hundred times cheaper than the expression),
# expression. The last group that matched is the secret, or the whole match where there is no group.
_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("jwt", ("eyJ",), r"eyJ(?:(?<![\w-]eyJ)|(?<=\\[nrt]eyJ))[\w-]{8,}+(?:\.[\w-]{4,}+){1,4}"),
    ("slack-webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/]{20,})"),
    ("discord-webhook", ("/webhooks/",), r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([\w-]{40,})"),
    ("teams-webhook", ("webhook.office.com",), r"webhook\.office\.com/webhookb2/([\w@/-]{40,})"),
    ("api-key", ("sk-",), r"sk-[A-Za-z0-9]{20,}"),
    ("npm-token", ("_authToken", "_auth", "_password"), r":_(?:authToken|auth|password)\s*=\s*[\"']?([\w+/=.-]{16,})"),
    (
        "aws-secret",
        ("AKIA", "ASIA", "[redacted:aws-key]"),
        r"(?:A[KS]IA[0-9A-Z]{16}|\[redacted:aws-key\])[^\n\w]{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    ("google-token", ("1//0",), r"1//0[\w-]{30,}"),
    ("azure-secret", ("8Q~", "7Q~"), r"[\w~.-]{3}[78]Q~[\w~.-]{31,34}"),
    ("azure-key", ("SharedAccessKey=",), r"SharedAccessKey=([A-Za-z0-9+/%]{30,}={0,2})"),
    ("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    ("airtable-token", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("crates-token", ("cio",), r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("nuget-key", ("oy2",), r"oy2[a-z0-9]{43}(?![a-z0-9])"),
    ("mailgun-key", ("mailgun", "Mailgun", "MAILGUN"), r"(?<![\w-])key-[0-9a-z]{32}(?![0-9a-z])"),
    ("sendgrid-key", ("SG.",), r"SG\.[\w-]{16,}\.[\w-]{8,}"),
    ("firebase-key", (":APA91",), r"AAAA[\w-]{7}:APA91[\w-]{100,}"),
    ("twilio-key", ("AC", "SK"), r"(?:AC|SK)[0-9a-f]{32}(?![0-9A-Za-z])"),
    (
        "private-key",  # in base64 once more, as in kubeconfig files and CI variables
        ("LS0tLS1CRUdJTiB",),
        r"LS0tLS1CRUdJTiB(?:SU0EgUFJJVkFURS|QUklWQVRFIEtFW|FQyBQUklWQVRFI|PUEVOU1NIIFBSSVZBVEUg|FTkNSWVBURUQgUFJJVkFURS"
        r"|EU0EgUFJJVkFURS)[A-Za-z0-9+/]{20,}={0,2}",
    ),
    (
        "signature",
        ("sig=", "ignature=", "ecurity-Token="),
        r"[?&;](?:sig|Signature|X-(?:Amz|Goog)-(?:Signature|Security-Token))=([\w%.~+/=-]{32,})",
    ),
    ("url-key", ("?", "&"), r"[?&](?:key|auth|code|subscription-key|access_key|apikey)=([\w.~%+-]{24,})"),
    ("bearer", ("earer ",), r"[Bb]earer\s+([\w.~+/=-]{16,})"),
)
# What these find may also be a word, or a name that happens to start so.
_JUDGED_KINDS = ("bearer", "signature", "url-key", *(kind for kind, _ in _PREFIXES))

# The plugins of detect-secrets in use: module, class, kind, and the strings of which its expressions need one. Left
# out: what goes by the name or by entropy, what reports a header line only (private key), and what takes more
# than linear time on a long line (npm, and the assignments of IBM, Cloudant and SoftLayer).
_PLUGINS: tuple[tuple[str, str, str, str], ...] = (
    ("artifactory", "ArtifactoryDetector", "artifactory-key", "AKC"),
    ("aws", "AWSKeyDetector", "aws-key", "A3T AKIA ASIA ABIA ACCA aws_ AWS_ awsS aws-"),
    ("azure_storage_key", "AzureStorageKeyDetector", "azure-key", "AccountKey="),
    ("github_token", "GitHubTokenDetector", "github-token", "ghp_ gho_ ghu_ ghs_ ghr_"),
    ("gitlab_token", "GitLabTokenDetector", "gitlab-token", "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt-"),
    ("gitlab_token", "GitLabTokenDetector", "gitlab-token", "glagent- gloas- GR1348941"),
    ("mailchimp", "MailchimpDetector", "mailchimp-key", "-us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8"),
    ("openai", "OpenAIDetector", "openai-key", "T3BlbkFJ"),
    ("pypi_token", "PypiTokenDetector", "pypi-token", "pypi-AgE"),
    ("sendgrid", "SendGridDetector", "sendgrid-key", "SG."),
    ("slack", "SlackDetector", "slack-token", "xox XOX hooks.slack.com"),
    ("square_oauth", "SquareOAuthDetector", "square-token", "sq0csp-"),
    ("stripe", "StripeDetector", "stripe-key", "sk_live_ rk_live_"),
    ("telegram_token", "TelegramBotTokenDetector", "telegram-token", ":AA"),
)
# The token that its Discord plugin finds has no fixed letters, only this tail.
_DISCORD = re.compile(r"\.[\w-]{6}\.[\w-]{27}")
# The shortest run of characters that any shape has in it: most short statements have none and are done.
_LONG_RUN = re.compile(r"[\w%+/=.~-]{16}")


def redact(text: str) -> tuple[str, int]:
    """Replace each secret in the text by `[redacted:KIND]`, and give the text with the number replaced.

    Names, placeholders, code that only refers to a secret, hashes and identifiers stay as they are. Redacting the
    result again changes nothing.
    """
    total = 0
    for _ in range(_PASSES):
        text, found = _redact_once(text)
        total += found
        if not found:
            break
    return text, total


def _redact_once(text: str) -> tuple[str, int]:
    total = 0
    for step in (_private_keys, _url_passwords, _shapes, _headers, _assignments):
        spans = step(text)
        if spans:
            text = _replace(text, spans)
            total += len(spans)
    return text, total


_Span = tuple[int, int, str]


def _replace(text: str, spans: list[_Span]) -> str:
    pieces, end = [], 0
    for start, stop, kind in spans:
        pieces += [text[end:start], _MARK, kind, "]"]
        end = stop
    pieces.append(text[end:])
    return "".join(pieces)


# --- what is a secret by its shape ---------------------------------------------------------------------------------

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LENGTH = 20_000
_PEM_BODY = re.compile(r"[A-Za-z0-9+/]{20}")
# A log often cuts a key off: then the lines that still look like one go, with line numbers or diff marks before them.
_PEM_CUT_OFF = re.compile(
    r"(?:(?:[\r\n]|\\[nr])+[ \t>|+\"']{0,12}(?:\d{1,6}[→:|\t ]{1,4})?"
    r"(?:[A-Z][\w-]{2,20}: [^\n\\]{1,100}|[A-Za-z0-9+/=]{16,}))+"
)
_PUTTY_LINES = re.compile(r"Private-Lines:\s*\d{1,4}((?:[\r\n]+[A-Za-z0-9+/=]{1,80}(?![\w:-]))+)")


def _private_keys(text: str) -> list[_Span]:
    spans: list[_Span] = []
    if "PRIVATE KEY" in text:
        at = 0
        while begin := _PEM_BEGIN.search(text, at):
            at = begin.end()
            end = _PEM_END.search(text, at, at + _PEM_LENGTH)
            if end and "-----BEGIN" not in text[at : end.start()]:
                if _PEM_BODY.search(text, at, end.start()):
                    at = end.end()
                    spans.append((begin.start(), at, "private-key"))
            elif (rest := _PEM_CUT_OFF.match(text, at)) and _PEM_BODY.search(rest.group()):
                at = rest.end()
                spans.append((begin.start(), at, "private-key"))
    if "Private-Lines:" in text:
        spans += [(*found.span(1), "private-key") for found in _PUTTY_LINES.finditer(text)]
    return sorted(spans)


# A number before a slash or a question mark is a port, and the @ after it belongs to something else.
_URL_PASSWORD = re.compile(r"://([^\s/:@\"'`<>\\]{0,120}):(?!\d{1,5}[/?#])([^\s/\"'`<>\\]{1,200})@(?=[\w\[$%.-])")


def _url_passwords(text: str) -> list[_Span]:
    spans: list[_Span] = []
    if "://" in text and "@" in text:
        for found in _URL_PASSWORD.finditer(text):
            user, password = found.groups()
            if _is_random(user):
                spans.append((*found.span(1), "url-token"))
            if password != user and not (_MARK in password or _is_placeholder(password) or _is_reference(password)):
                spans.append((*found.span(2), "url-password"))
    return spans


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


@cache
def _plugin(module: str, name: str) -> tuple[re.Pattern[str], ...]:
    # Imported only when a text holds one of the plugin's strings: the library brings `requests` with it (0.1 s).
    return tuple(getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name).denylist)


def _shapes(text: str) -> list[_Span]:
    found: list[_Span] = []
    if not _LONG_RUN.search(text):
        return found
    for kind, prefixes in _PREFIXES:
        for prefix in prefixes.split():
            if prefix in text:
                found += _matches(text, kind, _compiled(re.escape(prefix) + r"[\w.+/-]{16,}").finditer(text))
    for kind, anchors, expression in _SHAPES:
        if any(anchor in text for anchor in anchors):
            found += _matches(text, kind, _compiled(expression).finditer(text))
    for module, name, kind, strings in _PLUGINS:
        if any(string in text for string in strings.split()):
            for pattern in _plugin(module, name):
                found += _matches(text, kind, _around(text, strings.split(), pattern))
    if _DISCORD.search(text):
        for pattern in _plugin("discord", "DiscordBotTokenDetector"):
            found += _matches(text, "discord-token", pattern.finditer(text))
    return _apart(found)


def _around(text: str, anchors: Iterable[str], pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Find the pattern near its anchors only: most expressions are slow where they find nothing."""
    places = sorted(_places(text, anchors))
    if not places:
        return
    low = high = 0
    for place in places:
        if place - _BEFORE > high:
            yield from pattern.finditer(text, low, high)
            low = place - _BEFORE
        high = place + _AFTER
    yield from pattern.finditer(text, max(low, 0), high)


_BEFORE, _AFTER = 100, 1_200


def _matches(text: str, kind: str, found_ones: Iterable[re.Match[str]]) -> list[_Span]:
    spans: list[_Span] = []
    reached = 0
    for found in found_ones:
        # The library's groups are either the secret or its prefix; a prefix starts where the match starts.
        group = found.lastindex or 0
        if group and found.start(group) == found.start():
            group = 0
        start, stop = found.span(group)
        if start < reached:
            continue
        while not text[start].isalnum() and start < stop - 1:
            start += 1
        while stop < len(text) and (text[stop].isalnum() and text[stop].isascii() or text[stop] in "_-"):
            stop += 1
        reached = stop
        secret = text[start:stop]
        if _starts_token(text, start) and len(set(secret)) > 6 and not _is_placeholder(secret):
            if kind not in _JUDGED_KINDS or _is_random(secret) or _is_mixed(secret):
                spans.append((start, stop, kind))
    return spans


def _starts_token(text: str, start: int) -> bool:
    """Say whether a token can start here: not inside a word, except after an escaped line end or Telegram's `/bot`."""
    before = text[max(0, start - 4) : start]
    if not before or not (before[-1].isalnum() or before[-1] == "_"):
        return True
    return before[-2:] in (r"\n", r"\r", r"\t") or before == "/bot"


def _apart(spans: list[_Span]) -> list[_Span]:
    """Order the spans and keep, of those that overlap, the one that starts first and reaches farthest."""
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
        elif span[1] > kept[-1][1]:
            kept[-1] = (kept[-1][0], span[1], kept[-1][2])
    return kept


_AUTHORIZATION = re.compile(
    r"uthorization\b[\"'\]\\*]*\s{0,3}[:=,]\s{0,3}[\\\"'`f]{0,3}"
    r"(?:(Bearer|Basic|Token|ApiKey|Api-Key|SSWS|GenieKey|Key|JWT)\s{1,3})?([^\s\"'`\\,;]{8,4000})",
    re.IGNORECASE,
)
_COOKIES = re.compile(r"cookie[\"']?:\s?[\"']?([^\n]{1,4000})", re.IGNORECASE)
_COOKIE = re.compile(r"[=]([^;\s\"'\\]{16,})")
_COMMANDS = (
    ("curl", re.compile(r"\bcurl\b[^\n]{0,400}?\s(?:-u|--user)[= ]?\s{0,3}[\"']?[^\s:\"']{1,100}:([^\s\"']{4,100})")),
    ("mysql", re.compile(r"\bmysql(?:dump|admin|import)?\b[^\n|;&]{0,200}?\s-p[\"']?([^\s\"']{6,100})")),
    ("sshpass", re.compile(r"\bsshpass\s{1,3}-p\s{0,3}[\"']?([^\s\"']{4,100})")),
    ("login", re.compile(r"\blogin\b[^\n|;&]{0,200}?\s-p\s{1,3}[\"']?([^\s\"']{6,100})")),
    ("redis-cli", re.compile(r"\bredis-cli\b[^\n|;&]{0,200}?\s-a\s{1,3}[\"']?([^\s\"']{6,100})")),
    ("machine", re.compile(r"\bmachine\s{1,3}\S{1,200}\s{1,3}login\s{1,3}\S{1,100}\s{1,3}password\s{1,3}(\S{4,200})")),
)


def _headers(text: str) -> list[_Span]:
    spans: list[_Span] = []
    for found in _around(text, ("uthorization", "UTHORIZATION"), _AUTHORIZATION):
        scheme, value = found.groups()
        basic = scheme is not None and scheme.lower() == "basic"
        if _is_user_and_password(value) if basic else _is_secret(value, "token", "quoted"):
            spans.append((*found.span(2), "authorization"))
    for header in _around(text, ("ookie:", 'ookie":', "ookie':"), _COOKIES):
        for found in _COOKIE.finditer(text, *header.span(1)):
            if _is_random(found.group(1)):
                spans.append((*found.span(1), "cookie"))
    for anchor, pattern in _COMMANDS:
        for found in _around(text, (anchor,), pattern):
            if _is_secret(found.group(1), "password", "env"):
                spans.append((*found.span(1), "password"))
    return _apart(spans)


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


# --- what is a secret by its name and value ------------------------------------------------------------------------

_NAME = re.compile(
    r"""(?P<name>
      pass(?:word|wd|phrase|code)|(?<![a-z])pwd?(?![a-z])|(?<=[_-])pass(?![a-z])|(?<![\w-])pass(?=["']?\s?[=:])
    | passwort|kennwort|contrase[ñn]a|mot[ _]de[ _]passe|senha|пароль|密[码碼]|パスワード
    | secret(?:[_ -]?(?:access)?[_ -]?key)?(?:[_-]?base)?
    | token | credentials?
    | (?:api|app|application|access|auth|account|admin|client|consumer|customer|db|database|deploy|encrypt(?:ion)?
      |decryption|function|hmac|host|ingest|jwt|license|licence|master|private|project|root|security|server|service
      |session|shared|signing|signature|site|ssh|subscription|user|webhook|write)[_ -]?key
    | (?<=["'])auth(?=["']) | mnemonic | (?:seed|recovery)[_ -]?phrase
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SETS = re.compile(
    r"""(?:[_-]?(?:\d{1,2}|prod(?:uction)?|staging|stage|dev(?:elopment)?|test|live|local|value|v\d|primary|secondary))?
    (?:
      (?P<xml>>)
    | (?P<said>\**\s{1,3}(?:(?:for|für|of|to|de)\s(?:[\w.@'-]{1,30}\s){1,4}?)?
        (?:is|was|are|will\sbe|ist|lautet|war|es|est|è|é)(?::\s|\s)(?:now\s|still\s|set\sto\s|changed\sto\s)?\s{0,2})
    | (?P<default>\\?["']\s{0,3},\s{0,3}(?=\\?["']))
    | (?P<field>\\?["']?\s{0,3},?\s{0,20}\\?["']?value\\?["']?\s{0,3}[:=]\s{0,3})
    | (?P<set>[\\"'`\])*?!]{0,6}\s{0,3}
        (?::=|=>|->|={1,3}|!==?|[:：|—]\**(?:\s{0,3}[\w.\[\]]{1,20}\s{1,3}=(?!=))?|为|是)\s{0,3})
    | (?P<loose>[ \t]{1,3})
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# A value is judged by its beginning; what belongs to a longer one goes with it.
_JUDGED = 300
_VALUE = re.compile(
    r"[fbruFBRU@]{0,2}(?P<quote>\\*(?:\"|'|`|\*\*))(?P<quoted>[^\n]{1,400}?)(?P=quote)"
    rf"|[\"'`*]{{0,3}}(?P<bare>[^\s\"'`]{{1,{_JUDGED}}})"
)
_BARE_END = re.compile(r"\\[nrt\"']|[,;)}\]]|&[\w.-]{1,40}=|</|<br")
_ENV_END = re.compile(r"\\[nrt\"']|[,;]$")
_LINE_HEAD = re.compile(r"(?:(?:export|set|ENV|ARG|-|\+|\$|\d+→)\s+)*[\w.-]*")
# Names that speak of something else: the tokens of a model, of a page or of a parser.
_OTHER_TOKEN = re.compile(
    r"(?:pad|eos|bos|unk|cls|sep|mask|special|stop|start|end|next|prev|page|sync|resume|csrf)[_ -]?$", re.I
)


# What a name starts with, or what it ends with and how far back it can start: finding these first and trying a name
# only there is ten times faster than the expression over the whole text.
_STARTS = (
    "pass", "pw", "kennwort", "contrase", "mot de pass", "mot_de_pass", "senha", "пароль", "密码", "密碼", "パスワード",
    "secret", "token", "credential", "auth\"", "auth'", "mnemonic",
)  # fmt: skip
_ENDS = ("key", "phrase")
_BACK = 14


def _names(text: str) -> Iterator[re.Match[str]]:
    lowered = text.lower()
    if len(lowered) != len(text):
        yield from _NAME.finditer(text)
        return
    places = sorted(
        [(place, 0) for place in _places(lowered, _STARTS)] + [(place, _BACK) for place in _places(lowered, _ENDS)]
    )
    end = 0
    for place, back in places:
        if place < end:
            continue
        name = _NAME.search(text, max(end, place - back), place + 10) if back else _NAME.match(text, place)
        if name:
            end = name.end()
            yield name


def _places(text: str, anchors: Iterable[str]) -> list[int]:
    places: list[int] = []
    for anchor in anchors:
        place = text.find(anchor)
        while place >= 0:
            places.append(place)
            place = text.find(anchor, place + len(anchor))
    return places


def _assignments(text: str) -> list[_Span]:
    spans: list[_Span] = []
    at = 0
    for name in _names(text):
        if name.start() < at:
            continue
        sets = _SETS.match(text, name.end())
        value = sets and _VALUE.match(text, sets.end())
        if sets and value and (span := _secret_value(text, name, str(sets.lastgroup), value)):
            spans.append(span)
            at = span[1]
    return spans


def _secret_value(text: str, name: re.Match[str], sets: str, value: re.Match[str]) -> _Span | None:
    kind = _kind(name.group().lower())
    before = text[max(0, name.start() - 60) : name.start()]
    if before.endswith(":") or (kind == "token" and _OTHER_TOKEN.search(before)):
        return None
    if value.group("quoted") is not None:
        start, stop = value.span("quoted")
        how = "default" if sets == "default" else "loose" if sets == "loose" and kind != "password" else "quoted"
    elif sets == "default":
        return None
    else:
        start, stop = value.span("bare")
        how = {"said": "said", "loose": "loose"}.get(sets, "bare")
        # A shell or env file takes everything up to the space; elsewhere a bracket or a comma ends the value.
        head = text[text.rfind("\n", max(0, name.start() - 200), name.start()) + 1 : name.start()]
        whole_line = text[stop : stop + 1] in ("", "\n", "\r") and _LINE_HEAD.fullmatch(head.lstrip())
        if sets == "set" and text[name.end() : start].strip("\"'`") == "=" and name.group().isupper():
            how = "env"
        if sets == "loose" and (before.endswith("--") or re.search(r"\b(?:ENV|ARG)\s\w*$|--[\w-]*$", before)):
            how = "env"
        if end := (_ENV_END if how in ("env", "said") or whole_line else _BARE_END).search(text, start, stop):
            stop = end.start()
        if how != "env":
            stop = start + len(text[start:stop].rstrip(".,;:)"))
        # "PASS: TestLogin2", "tests pass: 12" and "1st pass: parse" come from test runs and compilers.
        printed = name.group() == "PASS" and not before.endswith(("_", "-")) and text[name.end()] == ":"
        if printed or (name.group().lower() == "pass" and not _FIELD_HEAD.search(before)):
            return None
    secret = text[start:stop]
    if kind == "phrase":
        return (start, stop, "seed-phrase") if _SEED_PHRASE.fullmatch(secret) else None
    if name.group().lower() == "auth":
        return (start, stop, "authorization") if _is_user_and_password(secret) else None
    if not _is_secret(secret, kind, how):
        return None
    if stop == value.end() and len(secret) == _JUDGED:
        while stop < len(text) and (text[stop].isalnum() or text[stop] in "+/=_-."):
            stop += 1
    return (start, stop, kind)


_FIELD_HEAD = re.compile(r"(?:^|[,;{(|\n]\s*|[\"'_-])$")
_SEED_PHRASE = re.compile(r"[a-z]{3,8}(?: [a-z]{3,8}){11,23}")


def _kind(name: str) -> str:
    if name.startswith(("mnemonic", "seed", "recovery")):
        return "phrase"
    if "secret" in name or "credential" in name:
        return "secret"
    if "token" in name or name == "auth":
        return "token"
    return "key" if name.endswith("key") else "password"


_PLACEHOLDER_WORDS = frozenset(
    "your my the a an example sample dummy fake test testing placeholder changeme change me here insert replace todo "
    "foo bar baz mock demo some any this default none null nil true false undefined empty unset xxx redacted masked "
    "hidden removed omitted truncated censored value string password passwd pass pwd secret token apikey user username "
    "host name invalid expired missing wrong votre ihr su clave cle".split()
)
_WORD = r"(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+|[vV]?\d{1,8})"
_WORDY = re.compile(rf"{_WORD}(?:[^A-Za-z0-9]+{_WORD})*[^A-Za-z0-9]*")
_ONE_SIGN = re.compile(r"(.)\1*")
_MASKED = re.compile(r"\.\.\.|…|\*{3}|•{3}|x{6}|X{6}|REDACTED")
_REFERENCE = re.compile(
    r"\$\{|\$\(|\{\{|#\{|^\$\w+$|^\$[A-Z_]{2,}|^%\w+%$|^%\(\w|^\{[\w.]*\}|^<[^>]*>?$|^&\w+$|^\[[\w .]*\]?$"
    r"|^!?(?:[A-Za-z_$][\w$]*(?:\?\.|\.|::|->))+[A-Za-z_$][\w$]*(?:\W.*)?$|^(?:await|new|return|typeof)\b"
)
_CODE = re.compile(r"[A-Za-z_\])](?:\(|\[)|^[(\[{]|=>|&&|\|\||^[!&*@~^]\w|\w[!=]==?|\?\w*:")
_ELSEWHERE = re.compile(
    r"[a-z][\w+.-]*://|/(?:[\w.-]+/|[\w.-]*$)|~/|\.{1,2}/|[A-Za-z]:\\|arn:|[\w.-]+@[\w-]+\.\w+$"
    r"|[\w-]+\.(?:json|ya?ml|txt|pem|key|env|py|js|ts|md|toml)$"
)
_TECHNICAL = re.compile(
    r"(?:sha|md|aes|rsa|hmac|ecdsa|ed|x|utf|base|rs|hs|es|ps|oauth|tls|http|argon|pbkdf|bcrypt|ipv|k|win|u?int|float|i18n"
    r"|l10n|e2e|s)[-_]?\d+[a-z]{0,2}(?:[-_ ].*)?"
    r"|\d+(?:\.\d+)?[-_ ]?(?:char(?:acter)?s?|bytes?|bits?|days?|hours?|min(?:utes?)?|sec|ms|[smhdwkKMG][bB]?)"
    r"(?:[-_ ].*)?",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[!@#$%^&*~+]")
_DIGIT_OR_SIGN = re.compile(r"[\d!@#$%^&*~+]")
# A variable named after what it holds, and a word or constant in place of a value.
_NAME_LIKE = re.compile(r"\w*(?:pass|pwd|token|secret|key)\w*", re.IGNORECASE)
_SPEAKS = re.compile(
    r"pass|secret|token|key|required|optional|string|undefined|postgres|admin|change|prompt|env", re.IGNORECASE
)


def _is_placeholder(value: str) -> bool:
    if _MASKED.search(value) or _ONE_SIGN.fullmatch(value):
        return True
    words = {word.lower() for word in re.split(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])", value)}
    return not words.isdisjoint(_PLACEHOLDER_WORDS) and _WORDY.fullmatch(value) is not None


def _is_reference(value: str) -> bool:
    return _REFERENCE.search(value) is not None and not any(_is_random(part) for part in re.split(r"[^\w]", value))


def _is_random(value: str) -> bool:
    """Say whether the value is a long mixture of letters and digits that no person would choose."""
    if len(value) < 16 or _WORDY.fullmatch(value):
        return False
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    return digits >= 2 and letters >= 2 and not _REFERENCE.search(value) and not _ELSEWHERE.match(value)


def _is_secret(value: str, kind: str, how: str) -> bool:
    """Judge a value that stands after a name: `how` it was given decides how much it must look like a secret."""
    if len(value) < (6 if kind == "password" else 8) or _MARK in value or " " in value or "\t" in value:
        return False
    if how in ("bare", "said", "loose") and not _DIGIT_OR_SIGN.search(value):
        return False
    if _is_placeholder(value) or _is_reference(value) or _ELSEWHERE.match(value) or _TECHNICAL.fullmatch(value):
        return False
    if how in ("loose", "default"):
        chosen = how == "default" and kind == "password" and len(value) >= 8 and _has_both(value)
        return chosen or _is_random(value) or _is_four_kinds(value)
    if how in ("bare", "said") and _CODE.search(value):
        return False
    both = _has_both(value)
    signs = _SIGNS.search(value, 1, len(value) - 1) is not None and any(map(str.isalpha, value))
    if kind == "password":
        return not (how in ("bare", "said") and _NAME_LIKE.fullmatch(value)) and (
            both
            or signs
            or (value.isdigit() and how in ("env", "quoted"))
            or (value.isalpha() and how == "env" and not _SPEAKS.search(value))
            or (value.count("-") >= 3 and how in ("env", "quoted") and not _SPEAKS.search(value))
        )
    if how in ("bare", "said"):
        digits = sum(map(str.isdigit, value))
        return both and len(value) >= 12 and not _WORDY.fullmatch(value) and (digits >= 3 or not value.isidentifier())
    return (
        (both and (signs or not _WORDY.fullmatch(value)))
        or _is_mixed(value)
        or (kind == "secret" and how == "env" and value.isalpha() and not _SPEAKS.search(value))
    )


def _has_both(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_four_kinds(value: str) -> bool:
    return _has_both(value) and value.upper() != value and value.lower() != value and bool(_SIGNS.search(value))


def _is_mixed(value: str) -> bool:
    """Say whether the letters change case too often for the humps of a name."""
    changes = sum(a.isupper() != b.isupper() for a, b in zip(value, value[1:], strict=False))
    return len(value) >= 16 and changes > 0.45 * len(value)
