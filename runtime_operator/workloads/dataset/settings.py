"""What may be set for a dataset check: the dataset alone makes a good one, the model a full one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from ..settings import Settings
from .rules import RULES


def _names(value: object) -> object:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


def _pairs(value: object) -> object:
    """`a=b,c=d` as a flag gives it, or the mapping of a document."""
    if not isinstance(value, str):
        return value
    parts = [part.partition("=") for part in value.split(",") if part.strip()]
    if any(not middle or not name.strip() or not to.strip() for name, middle, to in parts):
        raise ValueError("must be NAME=NAME,NAME=NAME")
    return {name.strip(): to.strip() for name, _, to in parts}


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Pairs = Annotated[dict[str, str], BeforeValidator(_pairs)]


class CheckSettings(Settings):
    """One dataset check."""

    dataset: Path = Field(description="a folder with rows, or one file of them")
    output: Path = Field(
        default=Path("dataset_check"),
        description="the folder for the report and the rows as training reads them",
    )
    model: Path | None = Field(
        default=None, description="the model's folder: its tokenizer and chat template count and render"
    )
    sequence_length: int | None = Field(
        default=None, gt=1, description="tokens a row may have; unset: what the model reads"
    )
    columns: Pairs = Field(
        default={},
        description="which column is which, as prompt=Question,completion=Reply; unset: found by their names",
    )
    roles: Pairs = Field(
        default={},
        description="names of roles that only this dataset uses, as Client=user,Agent=assistant",
    )
    eval_share: float = Field(
        default=0.05, ge=0, lt=1, description="rows to hold out where none are, as a share; 0: none"
    )
    min_rows: int = Field(default=4, ge=1, description="fewer rows to train on are refused")
    most_duplicates: float = Field(
        default=RULES["duplicate"].borne,
        ge=0,
        le=1,
        description="the share of rows that may stand there twice",
    )
    most_truncated: float = Field(
        default=RULES["too-long"].borne, ge=0, le=1, description="the share of rows that may lose their end"
    )
    allow: Names = Field(default=(), description="rules whose breach is only told, by name")
    drop: Names = Field(default=(), description="rules whose rows are left out, by name")
    limit: int | None = Field(
        default=None,
        gt=0,
        description="look only at the first rows of each file; nothing is written for training",
    )
    samples: int = Field(default=6, ge=0, le=100, description="rows shown in the report")

    @field_validator("allow", "drop")
    @classmethod
    def _known(cls, names: tuple[str, ...], info: Any) -> tuple[str, ...]:
        for name in names:
            if name not in RULES:
                raise ValueError(f"{name!r} is no rule, known are {', '.join(RULES)}")
            if info.field_name == "drop" and not RULES[name].droppable:
                raise ValueError(f"{name!r} is about the whole, not about rows that could be left out")
        return names

    @property
    def name(self) -> str:
        """How the dataset as a whole is told; also where it is given as a dot."""
        return self.dataset.absolute().name

    def borne(self, rule: str) -> float:
        """The share of rows up to which a breach of `rule` is only told."""
        return {"duplicate": self.most_duplicates, "too-long": self.most_truncated}.get(
            rule, RULES[rule].borne
        )
