"""Secrets that are known by themselves: keys and tokens of services, private keys, passwords in addresses."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from functools import cache

from acemem.memory.redaction.spans import MARK, Span, apart, around, follows_escape, places
from acemem.memory.redaction.values import is_mixed, is_placeholder, is_random, is_reference, is_secret

__all__ = ["by_shape", "private_keys", "url_passwords"]

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
        "r8_ gsk_ xai- lsv2_pt_ lsv2_sk_ tvly- dop_v1_ doo_v1_ dor_v1_ dapi dp.pt. dp.st. dp.ct. dp.sa. pul- "
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
    ("api-token", ("pplx-",), r"pplx-[A-Za-z0-9]{40,}"),
    ("google-token", ("1//0",), r"1//0[\w-]{30,}"),
    ("azure-secret", ("8Q~", "7Q~"), r"[\w~.-]{3}[78]Q~[\w~.-]{31,34}"),
    ("azure-key", ("SharedAccessKey=",), r"SharedAccessKey=([A-Za-z0-9+/%]{30,}={0,2})"),
    ("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    ("airtable-token", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("crates-token", ("cio",), r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("nuget-key", ("oy2",), r"oy2[a-z0-9]{43}(?![a-z0-9])"),
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
    (
        "url-key",
        ("key=", "auth=", "code="),
        r"[?&](?:key|auth|code|subscription-key|access_key|apikey)=([\w.~%+-]{24,})",
    ),
)
# The same where the string stands apart from what it announces.
_ANNOUNCED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("npm-token", ("_authToken", "_auth", "_password"), r":_(?:authToken|auth|password)\s*=\s*[\"']?([\w+/=.-]{16,})"),
    (
        "aws-secret",
        ("AKIA", "ASIA", "[redacted:aws-key]"),
        r"(?:A[KS]IA[0-9A-Z]{16}|\[redacted:aws-key\])[^\n\w]{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    ("mailgun-key", ("mailgun", "Mailgun", "MAILGUN"), r"(?<![\w-])key-[0-9a-z]{32}(?![0-9a-z])"),
    ("bearer", ("earer ",), r"[Bb]earer\s+([\w.~+/=-]{16,})"),
)
# What these find may also be a word, or a name that happens to start so.
_JUDGED_KINDS = ("bearer", "signature", "url-key", *(kind for kind, _ in _PREFIXES))

# The plugins of detect-secrets in use: module, class, kind, and the strings of which its expressions need one. Left
# out: what goes by the name or by entropy, what reports a header line only (private key), and what takes more
# than linear time on a long line (npm, and the assignments of IBM, Cloudant and SoftLayer).
PLUGINS: tuple[tuple[str, str, str, str], ...] = (
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
_KIND_OF_PREFIX = {prefix: kind for kind, prefixes in _PREFIXES for prefix in prefixes.split()}
_DETECTORS: dict[str, list[tuple[str, str, str]]] = {}
for _module, _name, _kind, _strings in PLUGINS:
    for _string in _strings.split():
        _DETECTORS.setdefault(_string, []).append((_module, _name, _kind))
_NAMES_OF_AWS = ("aws_", "AWS_", "awsS", "aws-")  # these stand apart from the value, the other strings are part of it
# The token that its Discord plugin finds has no fixed letters, only this tail.
_DISCORD = re.compile(r"\.[\w-]{6}\.[\w-]{27}")
# The shortest run of characters that any shape has in it, and what no such run of a key is without: most statements
# have neither and are done.
_LONG_RUN = re.compile(r"[A-Za-z0-9_%+/=.~:-]{16,}")
_UNLIKE_WORDS = re.compile(r"\d|[a-z][A-Z]|[A-Z]{16}")


# Who takes the marks of a list off a line takes the dashes at its start.
_PEM_BEGIN = re.compile(r"(?:-----|\b)BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"(?:-----|\b)END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LENGTH = 20_000
_DASHES = 5  # with which one key ends and, in a text without line ends, the next begins
_PEM_BODY = re.compile(r"[A-Za-z0-9+/]{20}")
# A log often cuts a key off: then the lines that still look like one go, with line numbers or diff marks before them,
# or set one after the other with what is left of the last.
_PEM_CUT_OFF = re.compile(
    r"(?:(?:[\r\n]|\\[nr])+[ \t>|+\"']{0,12}(?:\d{1,6}[→:|\t ]{1,4})?"
    r"(?:[A-Z][\w-]{2,20}: [^\n\\]{1,100}|[A-Za-z0-9+/=]{16,})"
    r"|[ ][A-Za-z0-9+/]{32,}={0,2}(?:[ ](?=[a-z+/]*[A-Z0-9]|[A-Z]+[a-z0-9])[A-Za-z0-9+/]{4,31}={0,2}(?![\w-]))?)+"
)
_PUTTY_LINES = re.compile(r"Private-Lines:\s*\d{1,4}((?:[\r\n]+[A-Za-z0-9+/=]{1,80}(?![\w:-]))+)")


def private_keys(text: str, lowered: str) -> list[Span]:
    """Private keys, from the first line to the last; what a log has cut off ends where its lines do."""
    spans: list[Span] = []
    if "PRIVATE KEY" in text:
        at = 0
        while begin := _PEM_BEGIN.search(text, at):
            at = begin.end()
            following = _PEM_BEGIN.search(text, at)
            stop = min(at + _PEM_LENGTH, following.start() + _DASHES if following else len(text))
            if end := _PEM_END.search(text, at, stop):
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


# A token alone, in the place of the user.
_URL_USER = re.compile(r"://([^\s/:@\"'`<>\\]{16,200})@(?=[\w\[$%.-])")
# The same without a scheme, as in a proxy's setting: there the value must look like a password.
_LOGIN = re.compile(
    r"(?<![\w./:@-])[\w.-]{1,64}:([^\s:@/\"'`<>,;()]{6,100})@(?=(?:[\w-]{1,63}\.){1,6}[A-Za-z0-9]{1,24}[:/])"
)


def url_passwords(text: str, lowered: str) -> list[Span]:
    """What stands for a password between a URL's scheme and its host."""
    spans: list[Span] = []
    if "@" not in text or ":" not in text:
        return spans
    if "://" in text:
        for found in _URL_PASSWORD.finditer(text):
            user, password = found.groups()
            if is_random(user):
                spans.append((*found.span(1), "url-token"))
            if password != user and not (MARK in password or is_placeholder(password) or is_reference(password)):
                spans.append((*found.span(2), "url-password"))
        for found in _URL_USER.finditer(text):
            if is_random(found[1]):
                spans.append((*found.span(1), "url-token"))
    spans += [
        (*found.span(1), "url-password") for found in _LOGIN.finditer(text) if is_secret(found[1], "token", "quoted")
    ]
    return apart(spans)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


@cache
def plugin(module: str, name: str) -> tuple[re.Pattern[str], ...]:
    # Imported only when a text holds one of the plugin's strings: the library brings `requests` with it (0.1 s).
    return tuple(getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name).denylist)


def by_shape(text: str, lowered: str) -> list[Span]:
    """Keys and tokens that services give out."""
    found: list[Span] = []
    runs = list(filter(_UNLIKE_WORDS.search, _LONG_RUN.findall(text)))
    if not runs:
        return found
    candidates = " ".join(runs)
    for prefix, kind in _KIND_OF_PREFIX.items():
        if prefix in candidates:
            found += _matches(text, kind, _compiled(re.escape(prefix) + r"[\w.+/-]{16,}").finditer(text))
    for shapes, searched in ((_SHAPES, candidates), (_ANNOUNCED, text)):
        for kind, anchors, expression in shapes:
            for anchor in anchors:
                if anchor in searched:
                    found += _matches(text, kind, _compiled(expression).finditer(text))
                    break
    for anchor, detectors in _DETECTORS.items():
        if anchor in (text if anchor in _NAMES_OF_AWS else candidates):
            for module, name, kind in detectors:
                for pattern in plugin(module, name):
                    found += _matches(text, kind, around(text, places(text, (anchor,)), pattern))
    if _DISCORD.search(text):
        for pattern in plugin("discord", "DiscordBotTokenDetector"):
            found += _matches(text, "discord-token", pattern.finditer(text))
    return apart(found)


def _matches(text: str, kind: str, found_ones: Iterable[re.Match[str]]) -> list[Span]:
    spans: list[Span] = []
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
        if _starts_token(text, start) and len(set(secret)) > 6 and not is_placeholder(secret):
            if kind not in _JUDGED_KINDS or any(map(is_random, (secret, *secret.split(".")))) or is_mixed(secret):
                spans.append((start, stop, kind))
    return spans


def _starts_token(text: str, start: int) -> bool:
    """Say whether a token can start here: not inside a word, except after an escaped line end or Telegram's `/bot`."""
    before = text[max(0, start - 4) : start]
    if not before or not (before[-1].isalnum() or before[-1] == "_"):
        return True
    return follows_escape(text, start) or before == "/bot"
