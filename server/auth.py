"""Who may speak: keys, hosts and origins. Everything is decided before a socket is accepted."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from firstword.protocol import KEY_SUBPROTOCOL_PREFIX
from server.settings import Settings, is_loopback

_SCHEMES = ("bearer ", "token ")
_KEY_HEADERS = ("x-api-key", "xi-api-key")


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

    def check(self, headers: Mapping[str, str], subprotocols: Sequence[str] = ()) -> None:
        """Raises `Denied`."""
        self._check_host(headers.get("host", ""))
        self._check_origin(headers.get("origin"), headers.get("host", ""))
        self._check_key(headers, subprotocols)

    def _check_host(self, host: str) -> None:
        if self.local_only and not is_loopback(_hostname(host)):
            raise Denied(403, f"This server has no key and answers to localhost only, not to {host[:200]!r}.")

    def _check_origin(self, origin: str | None, host: str) -> None:
        if origin is None or "*" in self.origins or origin in self.origins:
            return
        if urlsplit(origin).netloc.lower() != host.lower():
            raise Denied(403, f"Pages of {origin[:200]!r} may not connect; --origins says which may.")

    def _check_key(self, headers: Mapping[str, str], subprotocols: Sequence[str]) -> None:
        if not self.keys:
            return
        offered = _offered_key(headers, subprotocols).encode()
        if not any([hmac.compare_digest(offered, key.encode()) for key in self.keys]):  # noqa: C419  # constant time
            raise Denied(401, "A key is needed: send it as `Authorization: Bearer KEY`.")


def _offered_key(headers: Mapping[str, str], subprotocols: Sequence[str]) -> str:
    authorization = headers.get("authorization", "")
    for scheme in _SCHEMES:
        if authorization.lower().startswith(scheme):
            return authorization[len(scheme) :].strip()
    for name in _KEY_HEADERS:
        if name in headers:
            return headers[name]
    keys = [p.removeprefix(KEY_SUBPROTOCOL_PREFIX) for p in subprotocols if p.startswith(KEY_SUBPROTOCOL_PREFIX)]
    return keys[0] if keys else ""


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
