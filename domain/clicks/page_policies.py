"""The content security policies of a brand's page: do they allow our script and its requests to us?

Pure. Source: Content Security Policy Level 3, as far as it decides about a script by its address and about that
script's requests. A policy is the text of one `Content-Security-Policy` header or `meta` element, or several of them
separated by commas.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import SplitResult, urlsplit

_SCRIPT = ("script-src-elem", "script-src", "default-src")
_CONNECT = ("connect-src", "default-src")
_DEFAULT_PORTS = MappingProxyType({"http": 80, "https": 443})
_NO_SOURCE = "'none'"
# With this source addresses do not count: a script needs the nonce of its page.
_NONCES_ONLY = "'strict-dynamic'"


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """Whether all is allowed, and otherwise the `lines` that should replace the directives of the same name.

    It is empty where only the page's own nonce would help.
    """

    is_allowed: bool
    lines: tuple[str, ...] = ()


def check(policies: Iterable[str], *, page: str, script: str, nonce: str | None = None) -> PolicyResult:
    """Check the policies of a page against the script at an address; both are URLs. `nonce` is that of the tag."""
    lines: dict[str, None] = {}
    is_allowed = True
    for policy in _parse(policies):
        for chain in (_SCRIPT, _CONNECT):
            name = next((name for name in chain if name in policy), None)
            if name is None:
                continue
            sources, is_script = policy[name], chain is _SCRIPT
            needs_nonce = is_script and _NONCES_ONLY in (source.lower() for source in sources)
            if is_script and nonce and f"'nonce-{nonce}'" in sources:
                continue
            if not needs_nonce and _allows(sources, page, script):
                continue
            is_allowed = False
            if not needs_nonce:
                lines[_correct(chain[-2] if name == "default-src" else name, sources, script)] = None
    return PolicyResult(is_allowed, tuple(lines))


def _parse(policies: Iterable[str]) -> Iterator[Mapping[str, Sequence[str]]]:
    """Yield the directives of each policy with their sources; of two of one name the first counts."""
    for policy in ",".join(policies).split(","):
        directives: dict[str, Sequence[str]] = {}
        for directive in policy.split(";"):
            name, *sources = directive.split() or [""]
            directives.setdefault(name.lower(), sources)
        yield directives


def _allows(sources: Sequence[str], page: str, target: str) -> bool:
    url, own = urlsplit(target), urlsplit(page)
    return any(_matches(source, url, own) for source in sources)


def _matches(source: str, url: SplitResult, own: SplitResult) -> bool:
    text = source.lower()
    if text == "*":
        return True
    if text == "'self'":
        return _is_scheme(own.scheme, url) and _host_and_port(own) == _host_and_port(url)
    if text.startswith("'"):
        return False
    if text.endswith(":") and "/" not in text:
        return _is_scheme(text[:-1], url)
    scheme, has_scheme, rest = text.rpartition("://")
    host, _, path = rest.partition("/")
    name, _, port = host.partition(":")
    return (
        _is_scheme(scheme if has_scheme else own.scheme, url)
        and _is_host(name, url.hostname or "")
        and _is_port(port, url)
        and _is_path(source.rpartition("://")[2].partition("/")[2] if path else "", url.path)
    )


def _is_scheme(scheme: str, url: SplitResult) -> bool:
    return url.scheme == scheme or (scheme == "http" and url.scheme == "https")


def _is_host(pattern: str, host: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def _is_port(port: str, url: SplitResult) -> bool:
    _, used = _host_and_port(url)
    if port in ("", "80") and used == _DEFAULT_PORTS.get(url.scheme):
        return True
    return port == "*" or port == str(used)


def _is_path(path: str, target: str) -> bool:
    if not path:
        return True
    return target.startswith(f"/{path}") if path.endswith("/") else target == f"/{path}"


def _host_and_port(url: SplitResult) -> tuple[str | None, int | None]:
    return url.hostname, url.port or _DEFAULT_PORTS.get(url.scheme)


def _correct(name: str, sources: Sequence[str], script: str) -> str:
    url = urlsplit(script)
    valid = [source for source in sources if source.lower() != _NO_SOURCE]
    return " ".join([name, *valid, f"{url.scheme}://{url.netloc}"])
