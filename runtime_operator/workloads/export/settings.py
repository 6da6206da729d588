"""What may be set for an export, and what is known when it is done."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ..settings import Settings


class ExportSettings(Settings):
    """One export."""

    model: Path = Field(description="the folder of the model, or of the adapter")
    to: str = Field(
        description="where it goes: a folder, pvc://CLAIM/PATH, s3://BUCKET/PREFIX (gs, az), hf://ORG/NAME "
        "or oci://REGISTRY/NAME:TAG; what lets us in comes from the environment"
    )
    private: bool = Field(default=True, description="keep a repository that is made on a hub to its owners")


class Exported(BaseModel):
    """The proof of an export."""

    model_config = ConfigDict(frozen=True)

    location: str = Field(description="where the model is; on a hub and in a registry pinned to this content")
    digest: str = Field(description="of the files, as `sha256sum` prints them, sorted by path")
    files: int
    bytes: int
    sent: int = Field(description="files that had to be sent; what was there already is not sent again")
