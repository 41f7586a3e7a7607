"""Whether the content policies of a brand's page let it run our script and let the script speak to us.

Pure. Source: Content Security Policy Level 3, as far as it decides about a script by its address and about a request
of that script. A policy is the text of one `Content-Security-Policy` header or `meta` element, or several of them with
commas in between.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import SplitResult, urlsplit

_SCRIPT = ("script-src-elem", "script-src", "default-src")
_CONNECT = ("connect-src", "default-src")
_USUAL_PORTS = MappingProxyType({"http": 80, "https": 443})
_NOBODY = "'none'"
# With it addresses do not count: a script needs the nonce of its page.
_NONCES_ONLY = "'strict-dynamic'"


@dataclass(frozen=True, slots=True)
class PolicyJudgement:
    """`is_allowed`, and else the directives that would be right, in the place of those of their name.

    There are none where only the page's own nonce would do.
    """

    is_allowed: bool
    lines: tuple[str, ...] = ()


def judge(policies: Iterable[str], *, page: str, script: str, nonce: str | None = None) -> PolicyJudgement:
    """Judge the policies of a page about the script at an address; both are URLs. `nonce` is that of the tag."""
    lines: dict[str, None] = {}
    is_allowed = True
    for policy in _each(policies):
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
                lines[_mended(chain[-2] if name == "default-src" else name, sources, script)] = None
    return PolicyJudgement(is_allowed, tuple(lines))


def _each(policies: Iterable[str]) -> Iterator[Mapping[str, Sequence[str]]]:
    """Yield the directives of each policy, with their sources; of two of one name the first counts."""
    for policy in ",".join(policies).split(","):
        found: dict[str, Sequence[str]] = {}
        for directive in policy.split(";"):
            name, *sources = directive.split() or [""]
            found.setdefault(name.lower(), sources)
        yield found


def _allows(sources: Sequence[str], page: str, target: str) -> bool:
    asked, own = urlsplit(target), urlsplit(page)
    return any(_matches(source, asked, own) for source in sources)


def _matches(source: str, asked: SplitResult, own: SplitResult) -> bool:
    said = source.lower()
    if said == "*":
        return True
    if said == "'self'":
        return _is_scheme(own.scheme, asked) and _place(own) == _place(asked)
    if said.startswith("'"):
        return False
    if said.endswith(":") and "/" not in said:
        return _is_scheme(said[:-1], asked)
    scheme, has_scheme, rest = said.rpartition("://")
    host, _, path = rest.partition("/")
    name, _, port = host.partition(":")
    return (
        _is_scheme(scheme if has_scheme else own.scheme, asked)
        and _is_host(name, asked.hostname or "")
        and _is_port(port, asked)
        and _is_path(source.rpartition("://")[2].partition("/")[2] if path else "", asked.path)
    )


def _is_scheme(scheme: str, asked: SplitResult) -> bool:
    return asked.scheme == scheme or (scheme == "http" and asked.scheme == "https")


def _is_host(pattern: str, host: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def _is_port(port: str, asked: SplitResult) -> bool:
    _, used = _place(asked)
    if port in ("", "80") and used == _USUAL_PORTS.get(asked.scheme):
        return True
    return port == "*" or port == str(used)


def _is_path(path: str, asked: str) -> bool:
    if not path:
        return True
    return asked.startswith(f"/{path}") if path.endswith("/") else asked == f"/{path}"


def _place(url: SplitResult) -> tuple[str | None, int | None]:
    return url.hostname, url.port or _USUAL_PORTS.get(url.scheme)


def _mended(name: str, sources: Sequence[str], script: str) -> str:
    found = urlsplit(script)
    kept = [source for source in sources if source.lower() != _NOBODY]
    return " ".join([name, *kept, f"{found.scheme}://{found.netloc}"])
