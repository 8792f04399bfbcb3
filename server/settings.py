"""Every option of the server in one place: flags, then `FIRSTWORD_*` variables, then a TOML file, then defaults."""

import argparse
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    CliApp,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from server.host import SessionLimits
from server.lexicon_file import read_lexicon
from server.worker_pool import PoolLimits
from streaming.chattts.options import Options
from streaming.engine import EngineSpec

_KEY = re.compile(r"[A-Za-z0-9._~-]{16,}")
"""What may stand in an HTTP header and in a WebSocket subprotocol, and is long enough not to be guessed."""

_EMBEDDED = "streaming.embedded.engine:create"
_CHATTTS = "streaming.chattts.engine:build"


_CHATTTS_OPTIONS = {option.name: option for option in fields(Options)}


def _option(name: str) -> Any:
    option = _CHATTTS_OPTIONS[name]
    return Field("" if option.default is MISSING else option.default, description=option.metadata["about"])


class SettingsError(Exception):
    """The options make no sense. The message says what to change."""


class Settings(BaseSettings):
    """Validated once, at start; nothing below reads flags or the environment."""

    model_config = SettingsConfigDict(
        env_prefix="FIRSTWORD_",
        frozen=True,
        extra="forbid",
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_prog_name="python -m server",
        cli_hide_none_type=True,
        cli_avoid_json=True,
    )

    config: Path | None = Field(None, description="A TOML file with these options.")
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0: a free one.")
    keys: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Keys that clients may use, separated by commas. None: no key is asked for, on loopback only."
    )
    insecure: bool = Field(False, description="Listen on a public address without a key.")
    origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Web pages' origins that may connect beside the server's own, separated by commas; *: any."
    )
    tls_cert: Path | None = Field(None, description="Certificate chain, PEM: serve HTTPS and secure WebSockets.")
    tls_key: Path | None = Field(None, description="Its private key, PEM, if it is in a file of its own.")
    wyoming: str = Field(
        "", description="HOST:PORT to serve Wyoming on, the protocol of Home Assistant. It has no keys: any may speak."
    )
    voice_aliases: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Other names of voices, NAME=VOICE, separated by commas: the ids that clients already send."
    )
    strict_voices: bool = Field(
        False, description="Refuse ids of other services' voices that have no alias, instead of choosing a voice."
    )
    engine: Literal["embedded", "chattts"] = Field("embedded", description="What speaks.")
    # The engine's own, each with its default, its description and its checks: see `streaming.chattts.options`.
    weights: str = _option("weights")
    precision: str = _option("precision")
    device: str = _option("device")
    slots: int = _option("slots")
    length: int = _option("length")
    speakers: str = _option("speakers")
    lookahead: str = _option("lookahead")
    vocoder: str = _option("vocoder")
    graphs: bool = _option("graphs")
    lexicon: Path | None = Field(
        None, description="A file that says how words are spoken: word, tab, what to say; SIGHUP reads it again."
    )
    devices: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Devices with workers of their own, separated by commas: cuda:0,cuda:1. None: --device."
    )
    workers: int = Field(1, ge=1, le=64, description="Engine worker processes on each device.")
    encoder_threads: int = Field(2, ge=1, le=64, description="Threads that encode audio.")
    max_connections: int = Field(1000, ge=1, description="Connections at once; one more is closed with 1013.")
    max_streams: int = Field(256, ge=1, description="Contexts spoken at once; one more is refused as overloaded.")
    admission: bool = Field(True, description="Let in no more listeners than the workers are fast enough for.")
    headroom: float = Field(0.15, ge=0, lt=1, description="Share of the workers' time that is kept free then.")
    max_wait_s: float = Field(0.75, ge=0, description="Seconds a listener waits to be let in, until it is refused.")
    max_contexts: int = Field(64, ge=1, le=4096, description="Contexts open at once on one connection.")
    max_context_chars: int = Field(100_000, ge=1, description="Characters of text in one context.")
    max_message_bytes: int = Field(65_536, ge=1024, description="Largest message from a client.")
    max_messages_per_s: float = Field(
        2000.0, gt=0, description="Messages a second from one client; more are read later."
    )
    max_lead_s: float = Field(10.0, gt=0, description="How far ahead of its playback a context is sent.")
    idle_s: float = Field(
        7200.0, gt=0, description="Seconds without a message or a context until a connection is closed."
    )
    stall_s: float = Field(30.0, gt=0, description="Seconds a client may not take its audio until it is dropped.")
    worker_stall_s: float = Field(
        10.0, gt=0, description="Seconds a worker with work may be silent until it is replaced."
    )
    ping_s: float = Field(20.0, gt=0, description="Seconds between pings, and to wait for the answer.")
    drain_s: float = Field(30.0, ge=0, description="Seconds to finish what is being spoken after SIGTERM.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="What to log.")

    @field_validator("keys", "origins", "voice_aliases", "devices", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(p.strip() for p in parts if p.strip()) if isinstance(parts, list | tuple) else parts

    @field_validator("keys")
    @classmethod
    def _check_keys(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        if not all(_KEY.fullmatch(key) for key in keys):
            raise ValueError("a key is at least 16 of the characters A-Z a-z 0-9 . _ ~ -")
        return keys

    @field_validator("voice_aliases")
    @classmethod
    def _check_aliases(cls, aliases: tuple[str, ...]) -> tuple[str, ...]:
        if not all(name.strip() and voice.strip() for name, _, voice in (alias.partition("=") for alias in aliases)):
            raise ValueError("an alias is written NAME=VOICE")
        return aliases

    @model_validator(mode="after")
    def _check_tls(self) -> "Settings":
        if self.tls_key and not self.tls_cert:
            raise ValueError("--tls-key needs --tls-cert")
        for path in (self.tls_cert, self.tls_key):
            if path and not path.is_file():
                raise ValueError(f"there is no file {path} for TLS")
        return self

    @field_validator("lexicon")
    @classmethod
    def _check_lexicon(cls, path: Path | None) -> Path | None:
        if path is not None:
            read_lexicon(path)
        return path

    @model_validator(mode="after")
    def _check_exposure(self) -> "Settings":
        if not (self.keys or self.insecure or is_loopback(self.host)):
            raise ValueError(
                f"{self.host} can be reached from other machines, and no key is set: set one with --keys or "
                "FIRSTWORD_KEYS, or say --insecure to let anybody speak"
            )
        return self

    @model_validator(mode="after")
    def _check_wyoming(self) -> "Settings":
        if self.wyoming_address and not (self.insecure or is_loopback(self.wyoming_address[0])):
            raise ValueError(
                f"--wyoming {self.wyoming} can be reached from other machines, and Wyoming has no keys: say --insecure "
                "to let anybody there speak"
            )
        return self

    @model_validator(mode="after")
    def _check_chattts(self) -> "Settings":
        if self.engine == "chattts":
            if not self.weights:
                raise ValueError("--engine chattts needs --weights: fetch them with `python -m streaming pull`")
            for device in self.devices or (self.device,):
                Options(**{**self._chattts_options, "device": device})  # type: ignore[arg-type]
        elif set(self.devices) - {"cpu"}:
            raise ValueError("--devices: the embedded voices run on cpu only")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags are put before these by the library."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def voice_alias_map(self) -> dict[str, str]:
        """Voices by their other names."""
        pairs = (alias.partition("=") for alias in self.voice_aliases)
        return {name.strip(): voice.strip() for name, _, voice in pairs}

    @property
    def wyoming_address(self) -> tuple[str, int] | None:
        """Host and port, if Wyoming is wanted. Raises `ValueError`."""
        if not self.wyoming:
            return None
        host, _, port = self.wyoming.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65_535:
            raise ValueError(f"--wyoming takes HOST:PORT, not {self.wyoming!r}")
        return host.strip("[]"), int(port)

    @property
    def session_limits(self) -> SessionLimits:
        """What one client may ask for."""
        return SessionLimits(
            contexts=self.max_contexts, context_chars=self.max_context_chars, max_lead_s=self.max_lead_s
        )

    @property
    def pool_limits(self) -> PoolLimits:
        """What all clients together may ask for."""
        return PoolLimits(
            streams=self.max_streams,
            stall_s=self.worker_stall_s,
            measured=self.admission,
            max_wait_s=self.max_wait_s,
        )

    @property
    def engine_specs(self) -> list[EngineSpec]:
        """One engine for each worker, device by device."""
        return [self._engine_spec(device) for device in self.devices or (self.device,) for _ in range(self.workers)]

    def _engine_spec(self, device: str) -> EngineSpec:
        if self.engine == "embedded":
            return EngineSpec(_EMBEDDED, max_lead_s=self.max_lead_s, headroom=self.headroom)
        options = {**self._chattts_options, "device": device}
        return EngineSpec(_CHATTTS, options, max_lead_s=self.max_lead_s, headroom=self.headroom)

    @property
    def _chattts_options(self) -> dict[str, str | int | float | bool]:
        return {name: getattr(self, name) for name in _CHATTTS_OPTIONS}


def load(argv: Sequence[str]) -> Settings:
    """The options of this start. Raises `SettingsError`; prints help and exits where the flags ask for it."""
    finder = argparse.ArgumentParser(add_help=False)
    finder.add_argument("--config", type=Path)
    config = finder.parse_known_args(argv)[0].config

    class Configured(Settings):
        __doc__ = "Real-time streaming text-to-speech server."
        model_config = SettingsConfigDict(toml_file=config)

    try:
        if config is not None and not config.is_file():
            raise SettingsError(f"There is no file {config}.")
        return CliApp.run(Configured, cli_args=list(argv))
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(detail) for detail in error.errors())) from None
    except ValueError as error:
        raise SettingsError(f"{config}: {error}") from None


def is_loopback(host: str) -> bool:
    """Can only this machine reach a server that listens on `host`?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _sentence(detail: ErrorDetails) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    message = detail["msg"].removeprefix("Value error, ")
    return f"--{where.replace('_', '-')}: {message}" if where else message
