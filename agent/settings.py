"""Settings: the environment and a ``.env`` file, prefix ``ANAMNESIS_``; every one has a documented default.

A language model is called only when ``ANAMNESIS_MODEL`` names one; its address and key are read as the openai client
knows them. ``NCBI_EMAIL`` and ``NCBI_API_KEY`` are NCBI's own.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NestedSecretsSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)
from rapidfuzz import process
from rapidfuzz.distance import OSA

from agent.configurations.loading import configured
from agent.server.settings import ServerSettings
from agent.telemetry.settings import TelemetrySettings
from graphs.completeness.score import GateSettings
from graphs.context import Limits
from graphs.kads.contract import SelectionSettings
from graphs.planning.fixed import PipelineSettings
from prompts.errors import InputError
from prompts.model_settings import Address, Bound, Budget, Effort, ModelSettings, Price, Role, RoleSettings
from tools.corpus.contract import RaySettings
from tools.gaps.contract import GapSettings
from tools.indexes.contract import IndexSettings
from tools.literature.settings import LiteratureSettings
from tools.passages.contract import ROOM, Strategy
from tools.questions.settings import BuildSettings, QuestionSettings

# How open sources are had and searched.


class KnowledgeSettings(BaseModel):
    """Open sources, as ``ANAMNESIS_KNOWLEDGE__...``.

    Attributes:
        live: whether `anamnesis knowledge` may download what the catalogue names.
        search: the imported sources that the agent searches: ``all``, ``none``, or names parted by commas.
        timeout: seconds of silence after which a download is given up; what came is kept (ours).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    live: Literal["on", "off"] = "off"
    search: str = Field(default="all", pattern=r"^[a-z0-9_, -]*$")
    timeout: float = Field(default=60.0, gt=0)

    def searches(self, name: str) -> bool:
        """Whether an imported source is searched."""
        return self.search == "all" or name in {part.strip() for part in self.search.split(",")}


class SessionSettings(BaseModel):
    """Sessions, as ``ANAMNESIS_SESSIONS__...``.

    Attributes:
        keep_days: a session that was not used for so many days is deleted with all that it left, when a server starts
            and by `anamnesis sessions expire`; None keeps all.
        wait: seconds to wait for a session whose turn runs in another process; 0 refuses at once. PostgreSQL takes a
            moment to give back the lock of a worker that was killed.
        connections: PostgreSQL: most connections that a worker opens for checkpoints, and again for records.
    """

    keep_days: float | None = Field(default=None, gt=0)
    wait: float = Field(default=1.0, ge=0, le=3600)  # ours
    connections: int = Field(default=4, ge=1, le=100)


# Third-party tracing and telemetry is forced off. Each name is the library's own switch.
TELEMETRY_OFF = {
    "LANGSMITH_TRACING": "false",
    "LANGSMITH_TRACING_V2": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGCHAIN_TRACING": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "CHAINLIT_TELEMETRY_ENABLED": "false",
    "ANONYMIZED_TELEMETRY": "false",
}

# Weights are read from disk; no hub is ever asked.
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


def default_home() -> Path:
    """The data folder when ``ANAMNESIS_HOME`` is not set: the platform's own place for a program's data."""
    from platformdirs import user_data_path

    return user_data_path("anamnesis")


class Settings(BaseSettings):
    """Everything that can be set: by name, by the environment, a ``.env`` file, or a folder of secrets.

    ``ANAMNESIS_SECRETS`` may name a folder of files that each hold one setting, named as its variable in small letters:
    what a container is given as secrets. The environment stands above them, what is given by name above all.

    Raises:
        InputError: names each bad value, and each name that is no setting with those that it may mean.

    Attributes:
        home: the data folder (``ANAMNESIS_HOME``), mode 0700.
        encoder: "" for the embedded encoder; ``medcpt:QUERY,ARTICLE``; or a sentence-transformers folder.
        model: name of a language model, "" for none. model_timeout, model_retries, model_temperature,
            model_max_tokens, model_reasoning_effort, model_concurrency: how it is called (`ModelSettings`).
            openai_base_url, openai_api_key: where, and the key; both are used only with a model.
        model_cache: keep good replies by what was asked: ``session`` until the session is deleted whose words were
            asked with; ``evaluation`` for none, in a file of its own.
        roles: what single roles have otherwise, for example ``ANAMNESIS_ROLES__ANSWER__TEMPERATURE=0.2`` or
            ``ANAMNESIS_ROLES__GATE__JUDGE=model``.
        budget: what a turn may spend on models. prices: of models, for a million tokens.
        generated: ``off`` no background is generated; ``context`` it may be read but nothing rests on it; ``allowed``
            a statement may rest on it, marked as not retrieved.
        max_characters: longest message taken.
        third_party_tracing: leave LangSmith and others as the environment sets them.
        passage_search: ``two_stage`` (encoder and words, then a cross-encoder), or ``chunk_counted`` (ICA-RAG's, which
            hands on documents) and its arms ``chunk_reranked`` and ``whole_documents``.
        passage_guard: leave documents out that are far from the case; of ICA-RAG's searches.
        passage_method: how documents are cut: ``seos`` exactly, ``seos_paper`` by CoMeta's rule.
        passage_tokens: tokens of all passages that one call returns, in the encoder's own.
        rare_diseases: rank rare diseases over the phenotype ontology for every case; else for cases that ask.
        kg_mode: ``paper`` ranks by MedRAG's published votes, ``ours`` by the evidence for and against.
        kg_graph: a folder with another graph than the starter's. kg_records: a file of records whose nearest go with
            each differential; ``""`` for none.
        icd10_zh: a table (CSV: code,name_zh) of Chinese names of ICD-10 codes.
        question_index: how the index of generated questions is built (`anamnesis questions build`).
        literature, gate, limits, selection, gaps, questions, pipeline: rooms' own settings, for example
            ``ANAMNESIS_LITERATURE__LIVE=off``. What ``gaps`` may write is said by ``generated``.
        database: ``postgresql://...`` keeps sessions there; None in SQLite files of the data folder.
        sessions: how long sessions are kept, and how they are shared (`SessionSettings`).
        server: where and how conversations are served (`ServerSettings`).
        telemetry: where traces and metrics for an operator go; off without an endpoint (`TelemetrySettings`).
        index: where the indexes of built collections lie (`IndexSettings`).
        corpus: names of the built collections that are searched beside the library, parted by commas. corpora: the
            folder of all built collections; None for one in the data folder. ray: how they are built on a cluster.
        knowledge: which imported sources are searched, and whether they may be downloaded (`KnowledgeSettings`).
        document_filter: judge the documents before answering; else all that were selected are kept.
        evidence_weighs: what was read raises and lowers the diagnoses of a case by its stance (of ``ica-rag``).
        config: a published configuration, for example ``medrgag`` or ``medrgag:without-kads``: what it sets stands
            above everything else that sets it (see `agent.configurations`).
    """

    model_config = SettingsConfigDict(
        env_prefix="ANAMNESIS_",
        env_file=".env",
        env_nested_delimiter="__",
        extra="ignore",
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    home: Path = Field(default_factory=default_home)
    encoder: str = ""
    model: str = ""
    model_timeout: float = Field(default=60.0, gt=0)
    model_retries: int = Field(default=2, ge=0, le=10)
    model_temperature: float = Field(default=0.0, ge=0, le=2)
    model_max_tokens: Annotated[int | None, Bound] = Field(default=None, ge=16)
    model_reasoning_effort: Effort = None
    model_cache: Literal["off", "session", "evaluation"] = "off"
    model_concurrency: int = Field(default=8, ge=1, le=1000)
    roles: dict[Role, RoleSettings] = Field(default_factory=dict)
    budget: Budget = Field(default_factory=Budget)
    prices: dict[str, Price] = Field(default_factory=dict)
    generated: Literal["off", "context", "allowed"] = "context"
    openai_base_url: Address = Field(default="", validation_alias="OPENAI_BASE_URL")
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    max_characters: int = Field(default=20_000, ge=100)
    third_party_tracing: bool = False
    passage_search: Strategy = "two_stage"
    passage_guard: bool = True
    passage_method: Literal["seos", "seos_paper"] = "seos"
    passage_tokens: int = Field(default=ROOM, ge=64)
    rare_diseases: bool = False
    kg_mode: Literal["ours", "paper"] = "ours"
    kg_graph: Path | None = None
    kg_records: Path | None = None
    icd10_zh: Path | None = None
    ncbi_email: str = Field(default="", validation_alias="NCBI_EMAIL")
    ncbi_api_key: SecretStr | None = Field(default=None, validation_alias="NCBI_API_KEY")
    literature: LiteratureSettings = Field(default_factory=LiteratureSettings)
    gate: GateSettings = Field(default_factory=GateSettings)
    limits: Limits = Field(default_factory=Limits)
    selection: SelectionSettings = Field(default_factory=SelectionSettings)
    gaps: GapSettings = Field(default_factory=GapSettings)
    questions: QuestionSettings = Field(default_factory=QuestionSettings)
    question_index: BuildSettings = Field(default_factory=BuildSettings)
    pipeline: PipelineSettings = Field(default_factory=PipelineSettings)
    document_filter: bool = True
    evidence_weighs: bool = False
    database: SecretStr | None = None
    sessions: SessionSettings = Field(default_factory=SessionSettings)
    server: ServerSettings = Field(default_factory=ServerSettings)
    telemetry: TelemetrySettings = Field(default_factory=TelemetrySettings)
    index: IndexSettings = Field(default_factory=IndexSettings)
    corpus: str = Field(default="", pattern=r"^[a-z0-9_, -]*$")
    corpora: Path | None = None
    knowledge: KnowledgeSettings = Field(default_factory=KnowledgeSettings)
    ray: RaySettings = Field(default_factory=RaySettings)
    config: str = ""

    if not TYPE_CHECKING:  # the fields are the signature that a type checker sees

        def __init__(self, **values: Any) -> None:
            check_names(values)
            folder = os.environ.get("ANAMNESIS_SECRETS", "")
            if folder:
                if not Path(folder).is_dir():
                    raise InputError(
                        f"ANAMNESIS_SECRETS names {folder}, which is no folder.", "Mount the secrets there."
                    )
                values.setdefault("_secrets_dir", folder)
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise _bad_values(error) from None
            except (OSError, UnicodeDecodeError) as error:
                if isinstance(error, UnicodeDecodeError):
                    what = f"Settings cannot be read from {' or '.join(filter(None, ('.env', folder)))}: it is no text."
                    raise InputError(what, "Save it as UTF-8.") from None
                raise InputError(
                    f"Settings cannot be read from {error.filename}: {error.strerror}.", "Give the file to this user."
                ) from None
            except SettingsError as error:  # it says the field; its cause holds the text, which may hold a key
                raise InputError(
                    f"Settings cannot be read: {error}.", "It must be JSON; see docs/settings.md."
                ) from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The usual sources, and files of secrets for settings within others (``..__..``), which follow no link."""
        del settings_cls
        for source in (env_settings, dotenv_settings):
            _check_variables(source.env_vars if isinstance(source, EnvSettingsSource) else ())
        nested = NestedSecretsSettingsSource(file_secret_settings)
        return init_settings, env_settings, dotenv_settings, nested, file_secret_settings

    @field_validator("home", "kg_graph", "kg_records", "icd10_zh", "corpora", "database", mode="before")
    @classmethod
    def _set(cls, value: object, info: ValidationInfo) -> object:
        """An empty variable is one that is not set: as a path it would be the working folder."""
        if value != "":
            return value
        return default_home() if info.field_name == "home" else None

    @field_validator("database")
    @classmethod
    def _postgres(cls, value: SecretStr | None) -> SecretStr | None:
        """No other database keeps sessions."""
        if value is not None and not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("an address that begins with postgresql:// is needed")
        return value

    @model_validator(mode="before")
    @classmethod
    def _configured(cls, given: dict[str, Any]) -> dict[str, Any]:
        """With a published configuration, what it sets in place of what was given."""
        return configured(given) if given.get("config") else given

    @model_validator(mode="after")
    def _one_policy(self) -> Settings:
        """What may be generated is said once, for all parts that it concerns."""
        if "generated" in self.gaps.model_fields_set:
            raise ValueError("gaps.generated is not set by itself: set ANAMNESIS_GENERATED")
        return self

    @property
    def language_model(self) -> ModelSettings | None:
        """How the language model is called, None when none is named."""
        if not self.model and not any(role.model for role in self.roles.values()):
            return None
        return ModelSettings(
            name=self.model,
            base_url=self.openai_base_url,
            api_key=self.openai_api_key,
            timeout=self.model_timeout,
            max_retries=self.model_retries,
            temperature=self.model_temperature,
            max_tokens=self.model_max_tokens,
            reasoning_effort=self.model_reasoning_effort,
            concurrency=self.model_concurrency,
            roles=self.roles,
        )

    def without_models(self) -> Settings:
        """The same, whatever the environment names: no language model is called."""
        return self.model_copy(update={"model": "", "roles": {}})

    def model_post_init(self, context: Any) -> None:
        """Take NCBI's own variables where ours are not set."""
        del context
        update: dict[str, Any] = {}
        if not self.literature.email and self.ncbi_email:
            update["email"] = self.ncbi_email
        if self.literature.api_key is None and self.ncbi_api_key is not None:
            update["api_key"] = self.ncbi_api_key
        if self.literature.cache_folder is None:
            update["cache_folder"] = self.home / "cache" / "eutils"
        if self.literature.shared_folder is None:
            update["shared_folder"] = self.home
        if self.literature.database is None and self.database is not None:
            update["database"] = self.database
        if update:
            self.literature = self.literature.model_copy(update=update)


def load_settings(**overrides: Any) -> Settings:
    """The settings of this environment, some of them overridden by values that pydantic reads."""
    return Settings(**overrides)


# What is said of a name that is no setting.

SLIP = 5  # ours: of so many letters one may be wrong, missing, too many or out of its place
SUGGESTED = 3  # ours: settings that are named at most
PREFIX = "anamnesis_"
KUBERNETES = re.compile(r"(?:service_(?:host|port)|port)(?:_|$)")  # code: set in every pod for a service of this name


def _paths(model: type[BaseModel], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        yield (*before, name)
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _paths(inner, (*before, name))


def _alike(name: str, *, leaves: bool = True) -> list[tuple[str, ...]]:
    """Settings that a wrong name may mean; ``leaves``: also within others, where a setting has just this name."""
    said, paths = name.lower().replace(".", "_").replace("__", "_"), list(_paths(Settings))
    flat = {"_".join(path): path for path in reversed(paths)}
    if said in flat:
        return [flat[said]]
    if leaves and (within := [path for path in paths if path[-1] == said]):
        return within[:SUGGESTED]
    slips = max(1, len(said) // SLIP)
    near = process.extract(said, list(flat), scorer=OSA.distance, score_cutoff=slips, limit=SUGGESTED)
    return [flat[name] for name, *_ in near]


def check_names(given: Iterable[str]) -> None:
    """Raise InputError for a name that is no setting."""
    known = {*Settings.model_fields, *(f.validation_alias for f in Settings.model_fields.values())}
    for name in given:
        if name not in known and not name.startswith("_"):
            near = [path[0] + "".join(f"={{{inner!r}: ...}}" for inner in path[1:]) for path in _alike(name)]
            raise InputError(f"There is no setting {name}.", _advice(near))


def _check_variables(names: Iterable[str]) -> None:
    """Raise InputError for a variable that is nearly a setting's; others of our prefix may be another program's."""
    first = {f"{PREFIX}{name}" for name in Settings.model_fields}
    for name in map(str.lower, names):
        own = name.removeprefix(PREFIX)
        if own == name or name.partition("__")[0] in first or KUBERNETES.match(own):
            continue
        near = [f"{PREFIX.upper()}{'__'.join(path).upper()}" for path in _alike(own, leaves=False)]
        if near:
            raise InputError(f"There is no setting {name.upper()}.", _advice(near))


def _advice(near: Sequence[str]) -> str:
    return f"Did you mean {' or '.join(near)}?" if near else "docs/settings.md lists them."


def _bad_values(error: ValidationError) -> InputError:
    told = []
    for fault in error.errors():
        where = ".".join(map(str, fault["loc"]))
        near = [".".join(path) for path in _alike(where)] if fault["type"] == "extra_forbidden" else []
        told.append(f"{where}: {fault['msg']}" + (f" (did you mean {' or '.join(near)}?)" if near else ""))
    return InputError(f"Settings cannot be read: {'; '.join(told)}.", "docs/settings.md lists them.")


@contextlib.contextmanager
def untraced(settings: Settings) -> Iterator[None]:
    """Inside, LangChain's tracing is off, whatever the environment says, unless a setting of ours leaves it.

    It holds for what runs inside alone: the process, its environment and its other runs may be another program's.
    """
    from langsmith.run_helpers import tracing_context

    with contextlib.nullcontext() if settings.third_party_tracing else tracing_context(enabled=False):
        yield


def silence_telemetry(settings: Settings) -> None:
    """Force third-party tracing and telemetry off in a process of our own, unless a setting of ours leaves it.

    For commands: their environment goes to their children too. What another program imports is `untraced`.
    """
    os.environ.update(OFFLINE)
    if not settings.third_party_tracing:
        os.environ.update(TELEMETRY_OFF)
