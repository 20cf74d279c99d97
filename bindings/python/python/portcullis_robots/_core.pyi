from collections.abc import Iterable, Sequence
from datetime import date
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, final

__all__ = [
    "Account",
    "Error",
    "Column",
    "Table",
    "Classifier",
    "PolicySet",
    "RobotsTxt",
    "Survey",
    "_is_agent",
    "_run_program",
    "__version__",
    "_AGENT_LISTS",
]

__version__: str
_AGENT_LISTS: str

def _is_agent(name: str, dialect: str) -> bool: ...
def _run_program(arguments: Sequence[str]) -> int: ...

class _ArrowArrayExport(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStreamExport(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Urls: TypeAlias = _ArrowArrayExport | _ArrowStreamExport | Iterable[str | bytes | None]
_Time: TypeAlias = date | str | bytes
_Times: TypeAlias = _Time | _ArrowArrayExport | _ArrowStreamExport | Iterable[_Time | None]
_BeforeFirst: TypeAlias = Literal["unknown", "oldest"]
_Path: TypeAlias = str | PathLike[str]
_Label: TypeAlias = Literal["train-ai", "ai-use", "search"]

class Error(Exception): ...

@final
class Column:
    def to_pylist(self) -> list[Any]: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Column: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Table:
    @property
    def column_names(self) -> list[str]: ...
    def to_pylist(self) -> list[dict[str, Any]]: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Table: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: str | int, /) -> Column: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Account:
    def to_dict(self) -> dict[str, Any]: ...
    def to_markdown(self) -> str: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes, bytes]]: ...

@final
class Classifier:
    @property
    def agents(self) -> list[str]: ...
    @property
    def policy_set(self) -> PolicySet: ...
    def classify(
        self,
        urls: _Urls,
        *,
        at: _Times | None = None,
        before_first: _BeforeFirst = "unknown",
        columns: str = "verdict",
        usage: Sequence[_Label] = ...,
        prefix: str = "",
        threads: int = 1,
    ) -> Table: ...
    def usage(
        self,
        urls: _Urls,
        labels: Sequence[_Label] | None = None,
        *,
        at: _Times | None = None,
        before_first: _BeforeFirst = "unknown",
        prefix: str = "",
        threads: int = 1,
    ) -> Table: ...
    def allowed(
        self,
        urls: _Urls,
        *,
        at: _Times | None = None,
        before_first: _BeforeFirst = "unknown",
        mode: Literal["all", "any"] = "all",
        purpose: _Label | None = None,
        unstated: Literal["keep", "drop"] | None = None,
        threads: int = 1,
    ) -> Column: ...
    def account(
        self,
        urls: _Urls,
        *,
        at: _Times | None = None,
        before_first: _BeforeFirst = "unknown",
        mode: Literal["all", "any"] = "all",
        purpose: _Label | None = None,
        unstated: Literal["keep", "drop"] | None = None,
        threads: int = 1,
    ) -> Account: ...
    def explain(
        self,
        url: str | bytes,
        agent: str | None = None,
        *,
        at: _Time | None = None,
        before_first: _BeforeFirst = "unknown",
    ) -> dict[str, Any]: ...
    def provenance(self) -> dict[str, Any]: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class PolicySet:
    @classmethod
    def open(cls, path: _Path, *, mapped: bool = True) -> PolicySet: ...
    @classmethod
    def from_bytes(cls, data: bytes | bytearray) -> PolicySet: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def compile(
        cls,
        inputs: _Path | Sequence[_Path] | dict[str, str | bytes],
        *,
        dialect: str = "rfc9309",
        output: _Path | None = None,
        strictness: Literal["lenient", "usual", "strict"] = "usual",
        max_robots_bytes: int = ...,
        history: bool = False,
        threads: int = 0,
        memory: int | None = None,
    ) -> PolicySet: ...
    @classmethod
    def merge(
        cls,
        paths: Sequence[_Path],
        output: _Path,
        *,
        threads: int = 0,
        memory: int | None = None,
    ) -> PolicySet: ...
    def for_agents(
        self,
        agents: str | Sequence[str] | None = None,
        *,
        user_agents: Sequence[str] = ...,
        assume_scheme: str | None = None,
    ) -> Classifier: ...
    def survey(
        self, agents: str | Sequence[str], *, history: bool = False, lists: bool = False
    ) -> Survey: ...
    def provenance(self) -> dict[str, Any]: ...
    def verify(self) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def dialect(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def has_history(self) -> bool: ...
    @property
    def hosts(self) -> int: ...
    @property
    def origins(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Survey:
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class RobotsTxt:
    def __new__(
        cls, body: str | bytes, *, dialect: str = "rfc9309", max_bytes: int | None = ...
    ) -> RobotsTxt: ...
    def can_fetch(self, agent: str, url: str | bytes) -> bool: ...
    def explain(self, agent: str, url: str | bytes) -> dict[str, Any]: ...
    def usage(self, agent: str, url: str | bytes) -> dict[str, Any]: ...
    def crawl_delay(self, agent: str) -> float | None: ...
    def values(self, field: str, agent: str | None = None) -> list[str]: ...
    @property
    def sitemaps(self) -> list[str]: ...
    @property
    def dialect(self) -> str: ...
