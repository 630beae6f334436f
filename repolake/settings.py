"""The one reader of the environment: how this deployment is set up."""

from __future__ import annotations

import difflib
import os
import re
import warnings
from functools import lru_cache
from pathlib import Path

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from repolake.errors import SettingsError

PREFIX = "REPOLAKE_"
# Kubernetes injects these for a service named `repolake` or `repolake-…`, with values such as tcp://10.0.0.1:80.
ORCHESTRATOR_NAME = re.compile(
    PREFIX + r"(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)"
)
ORCHESTRATOR_ADDRESS = re.compile(r"(tcp|udp)://")
CLOSE_NAME_RATIO = 0.8


class Settings(BaseSettings):
    """Every setting, read from `REPOLAKE_<NAME>`; arguments of a command win over it."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    # place
    data_dir: Path = Field(Path(".repolake"), description="Folder of the lake and the index.")

    # scan
    max_file_bytes: int = Field(
        1_048_576, ge=1, description="A file is indexed if its size is at most this many bytes."
    )
    git_timeout_seconds: float = Field(
        600.0, gt=0, description="How long one git command on a remote may take."
    )
    git_token_file: Path | None = Field(
        None, description="File with the token for https remotes; it is read for each fetch and never stored."
    )
    git_ssh_key_file: Path | None = Field(None, description="File with the private key for ssh remotes.")
    git_known_hosts_file: Path | None = Field(
        None, description="File with the host keys of ssh remotes; with it, other hosts are refused."
    )
    history_commit_limit: int = Field(
        20_000,
        ge=0,
        description="How many commits are read to find each file's last one; 0: none, older files have none.",
    )

    author_names: bool = Field(
        True, description="Whether to store who changed each file last; false leaves names of people out."
    )

    # chunk
    chunk_tokens: int = Field(
        512, ge=64, description="Most tokens of one chunk; the model's own limit rules if lower."
    )
    chunk_timeout_seconds: float = Field(
        30.0,
        gt=0,
        description="Processor time that cutting one file may take before it counts as failed.",
    )
    chunk_memory_bytes: int = Field(
        2 * 1024**3,
        ge=64 * 1024**2,
        description="Memory that a worker may use (Linux); a file whose cutting needs more counts as failed.",
    )
    workers: int = Field(
        0,
        ge=0,
        description="Worker processes for chunking; 0: one for each core this process may use.",
    )

    # retention
    snapshots_per_ref: int = Field(
        2, ge=1, description="How many snapshots of a ref the lake keeps; searches see the newest."
    )

    gc_grace_hours: float = Field(
        48.0,
        ge=0,
        description="How long gc keeps replaced databases (for rollback) and what dead runs left unfinished.",
    )
    databases_kept: int = Field(
        2,
        ge=1,
        description="How many replaced databases stay for rollback; a publish removes older ones.",
    )
    runs_kept: int = Field(
        400, ge=2, description="Of how many runs gc keeps the history that `status` and SQL show."
    )

    # embed
    model: str = Field(
        "minilm", description="Model: `minilm`, `fast`, or a sentence-transformers name or path."
    )
    model_revision: str = Field(
        "", description="Commit, tag or branch of a model from the Hugging Face hub; empty: its main branch."
    )
    dimension: int = Field(
        0, ge=0, description="Keep only the first dimensions of each vector (Matryoshka models); 0: all."
    )
    trust_remote_code: str = Field(
        "", description="Name of the one model whose own Python code may run; empty: none."
    )
    batch_tokens: int = Field(
        8192, ge=64, description="Most tokens of one batch, padding included; lower it if memory is short."
    )
    threads: int = Field(
        0, ge=0, description="Threads of the model and of DuckDB; 0: one for each core this process may use."
    )

    # load and search
    load_memory: str = Field(
        "4GB",
        pattern=r"^\d+(\.\d+)? ?([KMGT]i?B)$",
        description="Memory that building the index may use before it spills to disk.",
    )
    search_memory: str = Field(
        "4GB", pattern=r"^\d+(\.\d+)? ?([KMGT]i?B)$", description="Memory that one search session may use."
    )
    query_timeout_seconds: float = Field(
        30.0, gt=0, description="How long one query of a session may run before it is interrupted."
    )

    select_model: str = Field(
        "default", description="Name of the model that `search --select` asks its endpoint for."
    )
    select_key: SecretStr | None = Field(
        None, min_length=1, description="API key that `search --select` sends to its endpoint."
    )
    select_tokens: int = Field(
        6000, ge=100, description="Most tokens of the repository map that `search --select` sends."
    )
    select_timeout_seconds: float = Field(
        60.0, gt=0, description="How long `search --select` waits for its endpoint; then it searches without."
    )

    # nightly flow
    repositories_file: Path = Field(
        Path("repolake.toml"), description="The list of repositories that the nightly flow indexes."
    )
    nightly_cron: str = Field("0 2 * * *", description="When the nightly flow runs, as a cron line.")
    nightly_timezone: str = Field("UTC", description="Time zone of the cron line, such as `Europe/Berlin`.")
    nightly_timeout_hours: float = Field(
        20.0, gt=0, description="When a nightly run is stopped; finished work is kept and the next goes on."
    )
    alert_url_file: Path | None = Field(
        None, description="File with the URL that is called when a night ends badly or does not come."
    )
    alert_hours: float = Field(
        26.0, ge=0.003, description="A night counts as missing when none was completed for so many hours."
    )

    # serve
    serve_host: str = Field(
        "127.0.0.1",
        description="Address that `repolake serve` listens on; the default is this machine alone.",
    )
    serve_port: int = Field(
        8321, ge=0, le=65535, description="Port that `repolake serve` listens on; 0: any free one."
    )
    serve_token: SecretStr | None = Field(
        None, min_length=1, description="Bearer token that `repolake serve` asks for; prefer the file."
    )
    serve_token_file: Path | None = Field(
        None, description="File with the bearer token that `repolake serve` asks for, read at its start."
    )
    serve_without_token: bool = Field(
        False, description="Let `repolake serve` answer other machines without a token, say behind a proxy."
    )
    serve_reranker: str = Field(
        "",
        description="Cross-encoder that `repolake serve` and `repolake mcp` offer; empty: none.",
    )
    serve_sql: bool = Field(False, description="Let `repolake serve` answer SQL of its clients.")
    serve_sql_rows: int = Field(
        1000, ge=1, le=100_000, description="Most rows that one SQL statement over HTTP gives."
    )
    serve_timeout_seconds: float = Field(
        10.0, gt=0, description="How long a request may wait for its turn, and how long its query may run."
    )
    serve_client_seconds: float = Field(
        15.0, gt=0, description="How long a client may take to send its request, or to take its answer."
    )
    serve_concurrency: int = Field(
        0, ge=0, description="Searches that run at once; 0: one for each core this process may use."
    )
    serve_queue: int = Field(
        64, ge=0, description="Requests that may wait for their turn; more are told to come again."
    )

    @field_validator("serve_port", mode="before")
    @classmethod
    def _own_port(cls, value: object) -> object:
        """Take the default for the address that Kubernetes injects for a service named `repolake-serve`."""
        is_address = isinstance(value, str) and ORCHESTRATOR_ADDRESS.match(value)
        return cls.model_fields["serve_port"].default if is_address else value

    @property
    def search_memory_bytes(self) -> int:
        """`search_memory` as a number; units as DuckDB reads them."""
        number = self.search_memory.rstrip("KMGTiB ")
        unit = self.search_memory.removeprefix(number).strip()
        return int(float(number) * (1024 if "i" in unit else 1000) ** (1 + "KMGT".index(unit[0])))


def load_settings(**arguments: object) -> Settings:
    """Return the settings; an argument that is not None wins over the environment.

    Raises SettingsError for a value out of range or a name close to a known one; other unknown names
    only warn.
    """
    _check_names()
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]  # pydantic validates the values
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + str(first["loc"][0]).upper()
        raise SettingsError(
            f"the setting {name} is wrong: {first['msg']} (found {first['input']!r})",
            "correct or unset it",
        ) from error


@lru_cache(maxsize=1)
def known_names() -> frozenset[str]:
    """The environment names that are read, such as `REPOLAKE_MODEL`."""
    return frozenset(PREFIX + name.upper() for name in Settings.model_fields)


def _check_names() -> None:
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in known_names():
            continue
        if ORCHESTRATOR_NAME.fullmatch(name):
            continue
        close = difflib.get_close_matches(name, known_names(), n=1, cutoff=CLOSE_NAME_RATIO)
        if close:
            raise SettingsError(f"{name} is no setting", f"did you mean {close[0]}?")
        warnings.warn(f"{name} is no setting of repolake and is ignored", stacklevel=3)
