"""Addresses: mailboxes of people, and machines in a network, by which somebody could be reached."""

from __future__ import annotations

import re

from acemem.memory.redaction.spans import Span
from acemem.memory.redaction.values import is_secret

__all__ = ["mailboxes", "network_addresses"]

# --- mailboxes -----------------------------------------------------------------------------------------------------

_LETTER = "A-Za-z0-9À-ÖØ-öø-ɏ"
_AT = re.compile("@|%40")
_LOCAL = re.compile(rf"[{_LETTER}._%+-]+")
_LOCAL_LENGTH = 64
_DOMAIN = re.compile(rf"[{_LETTER}][{_LETTER}-]{{0,62}}(?:\.[{_LETTER}][{_LETTER}-]{{0,62}}){{1,8}}")
# Every ending of two letters counts, except those of source files; of the longer ones those that mailboxes have.
_NOT_ENDINGS = frozenset("js ts rb kt cs db hs ex vb tf el fs hx jl".split())
_FILE_ENDINGS = frozenset("md py sh".split())
_ENDINGS = frozenset(
    "com org net edu gov mil int info biz name pro aero coop museum jobs mobi travel cat tel asia arpa app dev page "
    "cloud online site store shop tech xyz blog wiki design agency company email group team work works zone network "
    "systems solutions services digital media news live life world global international software engineering "
    "technology studio academy consulting ventures capital finance health care clinic legal law energy science "
    "education university school foundation ngo ong church community social chat club fun games space host hosting "
    "website press today events expert guru ninja rocks run codes computer support help center city land house "
    "estate properties berlin hamburg koeln wien paris london nyc tokyo swiss eus bank insurance tax money cash "
    "exchange market business enterprises industries partners holdings limited gmbh inc llc ltd plc onl top vip icu "
    "win bid click link download stream video photo photography art gallery music film fashion style beauty fit "
    "yoga coffee restaurant pub bar beer wine pizza kitchen recipes garden farm green bio eco solar "
    "internal intranet corp lan local home private".split()
)
_RESERVED = frozenset(("example", "test", "invalid", "localhost"))
_NOBODY = re.compile(r"(?:^|[._+-])(?:not?|never|do-?not)[._-]?reply(?:$|[._+-])")
_LOGINS_OF_HOSTS = frozenset(("git", "hg", "svn", "bzr", "gitea", "gitlab", "aur"))
_KEYWORDS = frozenset(("this", "super", "return", "break", "continue"))
_SOMEBODY = frozenset(
    "user username you your your-name yourname your.name your_name your-email your.email youremail me my name email "
    "mail e-mail foo bar test tester someone somebody person x xxx a first.last firstname.lastname".split()
)
_SOMEWHERE = frozenset(
    "domain yourdomain your-domain mydomain company yourcompany your-company mycompany email mail address host "
    "hostname server site website test foo bar baz org organization somewhere place provider x xxx".split()
)
_REMOTE_PATH = re.compile(r":(?:[~/]|[\w.-]+/)")
_REMOTE_LOGIN = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh|sshfs|ssh-copy-id)\b[^\n|;&]{0,100}$")
_PASSWORD_BESIDE = re.compile(r":([^\s,;\"'`<>/|]{6,64})")
_IN_URL = re.compile(r"://[^\s/\"'`<>]*$")
_VERSION = re.compile(r"v?\d+(?:x\.|\.\d)")


def mailboxes(text: str, lowered: str) -> list[Span]:
    """E-mail addresses, except those of nobody: examples, senders that take no answer, logins of code hosts."""
    spans: list[Span] = []
    if "@" not in text and "%40" not in text:
        return spans
    reached = 0
    for at in _AT.finditer(text):
        start = at.start()
        if local := _LOCAL.match(text[max(reached, start - _LOCAL_LENGTH) : start][::-1]):
            start -= local.end()
        if start > 0 and text[start - 1] == "\\" and text[start : start + 1] in ("n", "r", "t"):
            start += 1
        while start < at.start() and text[start] in "._%+-":
            start += 1
        domain = _DOMAIN.match(text, at.end())
        if start < at.start() and domain and (stop := _end_of_mailbox(text, at.end(), domain.group())):
            if not _is_nobody(text, start, at.start(), at.end(), stop):
                spans.append((start, stop, "email"))
                reached = stop
                beside = _PASSWORD_BESIDE.match(text, stop)
                if beside and is_secret(beside[1], "password", "quoted"):
                    spans.append((*beside.span(1), "password"))
                    reached = beside.end()
    return spans


def _end_of_mailbox(text: str, start: int, domain: str) -> int | None:
    """Where the domain ends that starts there; None where code or a file name only looks like one."""
    stop = start + len(domain)
    if text[stop : stop + 1] == "(":
        return None
    labels = domain.split(".")
    while len(labels) > 1:
        ending = labels[-1].lower().rstrip("-")
        if _is_ending(ending, len(labels)):
            return start + len(".".join(labels)) - (len(labels[-1]) - len(ending))
        if labels[-1].islower():
            return None
        labels.pop()  # the next sentence, where the space before it is missing
    return None


def _is_ending(ending: str, labels: int) -> bool:
    if len(ending) == 2:
        return (
            ending.isascii()
            and ending.isalpha()
            and not (ending in _NOT_ENDINGS or (ending in _FILE_ENDINGS and labels == 2))
        )
    return ending in _ENDINGS or ending in _RESERVED or (ending.startswith("xn--") and len(ending) > 5)


def _is_nobody(text: str, start: int, at: int, domain_at: int, stop: int) -> bool:
    local, domain = text[start:at].lower(), text[domain_at:stop].lower()
    labels = domain.split(".")
    if not _RESERVED.isdisjoint((labels[-1], labels[-2])) or "example" in labels:
        return True
    if _NOBODY.search(local) or any(map(_NOBODY.search, labels)):
        return True
    if local in _LOGINS_OF_HOSTS or local in _KEYWORDS or _VERSION.match(domain):
        return True
    if (local in _SOMEBODY and labels[0] in _SOMEWHERE) or len(local) == len(labels[0]) == 1:
        return True
    # What logs into a machine is no mailbox; the machine's name says less than its number.
    before = text[max(0, start - 200) : start]
    return bool(_REMOTE_PATH.match(text, stop) or _IN_URL.search(before) or _REMOTE_LOGIN.search(before))


# --- networks ------------------------------------------------------------------------------------------------------

_FOUR_HINT = re.compile(r"\d\.\d{1,3}\.\d{1,3}\.\d")
_FOUR = re.compile(r"(?:(?<![\w.])|(?<=\\[nrt]))(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?!\w|\.\d)")
_IN_NAME = re.compile(r"(?<![A-Za-z0-9])(?:ip|ec2)-(\d{1,3}(?:-\d{1,3}){3})(?![\d-])")
# The same for everybody: where a cloud's machine asks about itself, and name servers that serve the public.
_PUBLIC_SERVICES = frozenset(
    "169.254.169.254 169.254.170.2 168.63.129.16 8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 208.67.222.222 208.67.220.220 "
    "2001:4860:4860::8888 2001:4860:4860::8844 2606:4700:4700::1111 2606:4700:4700::1001 2620:fe::fe fe80::1 "
    "fd00:ec2::254".split()
)
_WHOLE_BLOCKS = frozenset(("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16"))
_EXAMPLES = re.compile(r"192\.0\.[02]\.|198\.51\.100\.|203\.0\.113\.|198\.1[89]\.")
_BLOCK = re.compile(r"/\d{1,3}(?!\d)")
# Compiled when a text holds four numbers with dots: until then a hook need not wait for it.
_SAYS_VERSION = (
    r"(?:\bv|\bver(?:sion)?s?|version|\breleases?|\brev(?:ision)?|\bbuild|\btag|\bsections?|§|\bchapter|\bappendix"
    r"|\bfigure|\btable|\bclause|\boid|==|~=|>=|<=|\^|~)[\"'`:=\s(]{0,4}$"
)
_SAYS_ADDRESS = (
    r"://$|\b(?:ip|ips|ipv4|addr|address|addresses|hosts?|hostname|server|gateway|router|dns|resolver|nameserver|proxy"
    r"|peer|ping|ssh|scp|rsync|sftp|curl|wget|telnet|nc|nmap|traceroute|connect\w*|listen\w*|bind|bound|subnet|cidr"
    r"|network|[ad]llow\w*|firewall|vpn|reach\w*)\b[^\n]{0,30}$"
)
_LOGIN = (
    r"\b(?:root|admin|administrator|ubuntu|debian|centos|ec2-user|deploy\w*|user|pi|vagrant|core|fedora|azureuser|git|ops"
    r"|postgres|www|www-data|jenkins|ansible|me)@$"
)
_PRODUCT = re.compile(r"[A-Za-z]/$")
_DASHED = re.compile(r"[A-Za-z_][-_+]$")
_GOES_ON = (
    r"\A(?:[-+](?:alpha|beta|rc|dev|snapshot|pre|post|final|build|linux|win|mac|darwin|x86|amd|arm|src|bin|py\d)"
    r"|\.(?:tar|t?gz|tgz|zip|jar|whl|egg|deb|rpm|apk|exe|msi|dmg|pkg|nupkg|dll|so|dev|post|rc))"
)
_BUILD = re.compile(r"[-+]\d+(?![\d.])")
_SMALL = 32
_SIX_HINT = re.compile(r"[23fF][0-9a-fA-F]{3}:")
_SIX = re.compile(r"(?:(?<![\w:.])|(?<=\\[nrt]))[23fF][0-9a-fA-F]{3}:[0-9a-fA-F:]{2,41}(?!\w)")


def network_addresses(text: str, lowered: str) -> list[Span]:
    """IPv4 and IPv6 addresses and blocks, except loopback, examples, masks, and what reads as a version."""
    spans: list[Span] = []
    if text.count(".") >= 3 and _FOUR_HINT.search(text):
        spans += [(*found.span(), "ip-address") for found in _FOUR.finditer(text) if _is_machine(text, found)]
    if "ip-" in text or "ec2-" in text:
        for found in _IN_NAME.finditer(text):
            if all(int(part) < 256 for part in found[1].split("-")):
                spans.append((*found.span(1), "ip-address"))
    if text.count(":") >= 2 and _SIX_HINT.search(text):
        for found in _SIX.finditer(text):
            address = found.group()
            if address.endswith(":") and not address.endswith("::"):
                address = address[:-1]
            if _is_reachable(address, text[found.start() + len(address) :][:1]):
                spans.append((found.start(), found.start() + len(address), "ip-address"))
    return sorted(spans)


def _is_machine(text: str, found: re.Match[str]) -> bool:
    numbers = [int(part) for part in found.groups()]
    if max(numbers) > 255 or not 0 < numbers[0] < 224 or numbers[0] == 127:
        return False
    start, stop = found.span()
    address = ".".join(map(str, numbers))
    block = _BLOCK.match(text, stop)
    if address in _PUBLIC_SERVICES or _EXAMPLES.match(address):
        return False
    if block and address + block.group() in _WHOLE_BLOCKS:
        return False
    return not _is_version(text, start, stop, numbers, block is not None)


def _is_version(text: str, start: int, stop: int, numbers: list[int], block: bool) -> bool:
    before = text[max(0, start - 60) : start]
    if _found(_SAYS_VERSION, before) or _found(_GOES_ON, text[stop : stop + 12]):
        return True
    private = _is_private(numbers[0], numbers[1])
    if numbers[1:] == [0, 0, 0] and _PRODUCT.search(before):
        return True
    if private:
        return False
    if _DASHED.search(before) or _BUILD.match(text, stop):
        return True
    if max(numbers) < _SMALL and _PRODUCT.search(before):
        return True
    if max(numbers) >= _SMALL or block or re.match(r":\d{2,5}\b", text[stop : stop + 7]):
        return False
    return not (_found(_SAYS_ADDRESS, before) or _found(_LOGIN, before))


def _found(expression: str, text: str) -> bool:
    return re.search(expression, text, re.IGNORECASE) is not None


def _is_private(first: int, second: int) -> bool:
    """Whether an IPv4 address that begins so belongs to a house, a company, a link or a carrier."""
    return first == 10 or (
        (first == 172 and 16 <= second < 32)
        or (first, second) in ((192, 168), (169, 254))
        or (first == 100 and 64 <= second < 128)
    )


def _is_reachable(address: str, following: str) -> bool:
    from ipaddress import IPv6Address  # only for a text that may hold one

    try:
        parsed = IPv6Address(address)
    except ValueError:
        return False
    groups = [group for group in address.split(":") if group]
    if len(groups) < 3 and not any(map(str.isalpha, address)):  # a slice of a list
        return False
    if len(groups) == 1 and following == "/":  # a block that has a name
        return False
    whole = int(parsed)
    if str(parsed) in _PUBLIC_SERVICES or whole >> 96 == 0x2001_0DB8 or whole >> 108 == 0x3FFF0:  # for examples
        return False
    return whole >> 125 == 0b001 or whole >> 121 == 0b1111110 or whole >> 118 == 0b1111111010
