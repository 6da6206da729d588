"""What a model would make of rows: their lengths through its tokenizer, their text through its template.

The tokenizer lives in a process beside this one (`tokenizing.py`); here are its folder, its configuration
and the questions.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from ...errors import SetupError, SpecError
from .example import Example
from .records import Fault
from .tokenizing import UNLIMITED
from .tokenizing import __name__ as TOKENIZING

CONTEXTS = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length", "n_ctx")


class ModelReader:
    """Counts and renders rows for one model, while the block it opens lasts."""

    def __init__(self, folder: Path, sequence_length: int | None = None) -> None:
        self.folder = folder
        _check_folder(folder)
        self._config = _config(folder)
        own = _own_context(self._config)
        room = min((length for length in (sequence_length, own) if length), default=0)
        command = [sys.executable, "-m", TOKENIZING, str(folder), str(room)]
        self._process = subprocess.Popen(  # apart from the terminal: Ctrl-C is for the check
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        about = self._reply()
        if "error" in about:
            self.close()
            raise SpecError(f"model: the tokenizer of {folder} cannot be loaded, {about['error']}")
        self.special_tokens: list[str] = about["special_tokens"]
        self.has_template: bool = about["has_template"]
        self._tokens: int = about["tokens"]
        longest = about["longest"] if about["longest"] < UNLIMITED else None
        self.context = min((length for length in (own, longest) if length), default=None)
        self.room = sequence_length or self.context
        _check_room(folder, sequence_length, self.context, close=self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the tokenizer's process."""
        self._process.kill()
        self._process.communicate()

    @property
    def vocabulary_fault(self) -> Fault | None:
        """The tokenizer knows tokens for which the model has no weights."""
        size = self._config.get("vocab_size") or (self._config.get("text_config") or {}).get("vocab_size")
        if not size or self._tokens <= size:
            return None
        return Fault("vocabulary", f"its tokenizer has {self._tokens} tokens, its config.json says {size}")

    def measure(self, examples: Sequence[Example]) -> list[dict[str, Any]]:
        """For each row `tokens` and `remarks`, and `prompt` where it is too long; or `refused`."""
        replies: list[dict[str, Any]] = self._ask("measure", examples)
        return replies

    def render(self, examples: Sequence[Example]) -> list[str]:
        """Each row as the model reads it."""
        texts: list[str] = self._ask("render", examples)
        return texts

    def _ask(self, kind: str, examples: Sequence[Example]) -> Any:
        assert self._process.stdin
        try:
            self._process.stdin.write(orjson.dumps([kind, examples]) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        return self._reply()

    def _reply(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        return orjson.loads(line)

    def _ended(self) -> SetupError:
        code = self._process.wait()
        return SetupError(
            f"model: the tokenizer of {self.folder} ended with exit code {code}, see its words above"
        )


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise SpecError(f"model: {folder} does not exist, give a folder with a Hugging Face model")
    if not (folder / "tokenizer_config.json").is_file() and not (folder / "tokenizer.json").is_file():
        raise SpecError(f"model: {folder} has no tokenizer.json, put the tokenizer beside the weights")


def _check_room(folder: Path, asked: int | None, context: int | None, *, close: Any) -> None:
    if asked and context and asked > context:
        close()
        raise SpecError(
            f"sequence_length: {asked} is more than the {context} tokens that {folder} can read, "
            f"give at most {context}"
        )


def _config(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    if not file.is_file():
        return {}
    try:
        config = json.loads(file.read_bytes())
    except ValueError as error:
        raise SpecError(f"model: {file} is not JSON, {error}") from None
    return config if isinstance(config, dict) else {}


def _own_context(config: dict[str, Any]) -> int | None:
    """The most tokens the model reads, by its configuration."""
    places = (config, config.get("text_config") or {})
    return next(
        (int(place[name]) for place in places for name in CONTEXTS if isinstance(place.get(name), int)), None
    )
