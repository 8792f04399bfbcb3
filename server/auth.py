"""Who may speak: keys, hosts and origins.

Everything is decided before a socket is accepted, but for the keys of clients that send them in a message.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from firstword.protocol import KEY_SUBPROTOCOL_PREFIX
from server.settings import Settings, is_loopback

_SCHEMES = ("bearer ", "token ")
_KEY_HEADERS = ("x-api-key", "xi-api-key")
_KEY_PARAMETERS = ("api_key", "access_token", "xi_api_key", "xi-api-key", "authorization", "single_use_token")
"""Of URLs, for browsers, which can't set headers."""


class Denied(Exception):  # noqa: N818
    """Not let in. `status` is for HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides by a request's headers. Header names are lower case.

    Without keys the server is meant for this machine only. A web page could still reach it, directly or through a
    name that was made to point at 127.0.0.1, so pages of other origins and requests for other hosts are refused.
    """

    keys: tuple[str, ...]
    origins: tuple[str, ...]
    local_only: bool

    @classmethod
    def of(cls, settings: Settings) -> "Gate":
        """As the options say."""
        return cls(settings.keys, settings.origins, local_only=not settings.keys and not settings.insecure)

    def check(
        self, headers: Mapping[str, str], subprotocols: Sequence[str] = (), query: Mapping[str, str] | None = None
    ) -> None:
        """Raises `Denied`."""
        self.check_page(headers)
        self.check_key(offered_key(headers, subprotocols, query or {}))

    def check_page(self, headers: Mapping[str, str]) -> None:
        """May a request come from there at all. Raises `Denied`."""
        self._check_host(headers.get("host", ""))
        self._check_origin(headers.get("origin"), headers.get("host", ""))

    def check_key(self, offered: str) -> None:
        """Is it one of ours. Raises `Denied`."""
        keys = [hmac.compare_digest(offered.encode(), key.encode()) for key in self.keys]  # all: constant time
        if keys and not any(keys):
            raise Denied(401, "A key is needed: send it as `Authorization: Bearer KEY`.")

    def _check_host(self, host: str) -> None:
        if self.local_only and not is_loopback(_hostname(host)):
            raise Denied(403, f"This server has no key and answers to localhost only, not to {host[:200]!r}.")

    def _check_origin(self, origin: str | None, host: str) -> None:
        if origin is None or "*" in self.origins or origin in self.origins:
            return
        if urlsplit(origin).netloc.lower() != host.lower():
            raise Denied(403, f"Pages of {origin[:200]!r} may not connect; --origins says which may.")


def offered_key(headers: Mapping[str, str], subprotocols: Sequence[str], query: Mapping[str, str]) -> str:
    """The key that a request carries, wherever its protocol puts it; empty: none."""
    if "authorization" in headers and (key := bare_key(headers["authorization"])):
        return key
    for name in _KEY_HEADERS:
        if name in headers:
            return headers[name]
    if len(subprotocols) == 2 and f"{subprotocols[0].lower()} " in _SCHEMES:
        return subprotocols[1]
    for subprotocol in subprotocols:
        if subprotocol.startswith(KEY_SUBPROTOCOL_PREFIX):
            return subprotocol.removeprefix(KEY_SUBPROTOCOL_PREFIX)
    return next((bare_key(query[name]) or query[name] for name in _KEY_PARAMETERS if name in query), "")


def bare_key(authorization: str) -> str:
    """The key of an `Authorization` header; empty: it has another scheme."""
    for scheme in _SCHEMES:
        if authorization.lower().startswith(scheme):
            return authorization[len(scheme) :].strip()
    return ""


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
