"""Every option of the server in one place: flags, then `FIRSTWORD_*` variables, then a TOML file, then defaults."""

import argparse
import ipaddress
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

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
from streaming.engine import EngineSpec

_KEY = re.compile(r"[A-Za-z0-9._~-]{16,}")
"""What may stand in an HTTP header and in a WebSocket subprotocol, and is long enough not to be guessed."""

_EMBEDDED = "streaming.embedded.engine:create"
_CHATTTS = "streaming.chattts.engine:build"


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
    engine: Literal["embedded", "chattts"] = Field("embedded", description="What speaks.")
    weights: str = Field(
        "", description="ChatTTS's weights: a folder that `python -m streaming pull` filled, or random:SEED for tests."
    )
    precision: Literal["int8", "bf16", "fp32"] = Field("int8", description="What ChatTTS computes in.")
    device: str = Field("cpu", description="Where ChatTTS computes: cpu, cuda or cuda:N.")
    slots: int = Field(8, ge=1, le=256, description="Segments that ChatTTS speaks at once in each worker.")
    speakers: str = Field("", description="A folder of ChatTTS speaker files, NAME.txt each.")
    lexicon: Path | None = Field(
        None, description="A file that says how words are spoken: word, tab, what to say; SIGHUP reads it again."
    )
    workers: int = Field(1, ge=1, le=64, description="Engine worker processes.")
    encoder_threads: int = Field(2, ge=1, le=64, description="Threads that encode audio.")
    max_connections: int = Field(1000, ge=1, description="Connections at once; one more is closed with 1013.")
    max_streams: int = Field(256, ge=1, description="Contexts spoken at once; one more is refused as overloaded.")
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

    @field_validator("keys", "origins", mode="before")
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
    def _check_weights(self) -> "Settings":
        if self.engine == "chattts" and not self.weights:
            raise ValueError("--engine chattts needs --weights: fetch them with `python -m streaming pull`")
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
    def session_limits(self) -> SessionLimits:
        """What one client may ask for."""
        return SessionLimits(
            contexts=self.max_contexts, context_chars=self.max_context_chars, max_lead_s=self.max_lead_s
        )

    @property
    def pool_limits(self) -> PoolLimits:
        """What all clients together may ask for."""
        return PoolLimits(streams=self.max_streams, stall_s=self.worker_stall_s)

    @property
    def engine_specs(self) -> list[EngineSpec]:
        """One engine for each worker."""
        if self.engine == "embedded":
            return [EngineSpec(_EMBEDDED)] * self.workers
        options: dict[str, str | int | float | bool] = {
            "weights": self.weights,
            "device": self.device,
            "precision": self.precision,
            "slots": self.slots,
            "voices": self.speakers,
        }
        return [EngineSpec(_CHATTTS, options)] * self.workers


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
