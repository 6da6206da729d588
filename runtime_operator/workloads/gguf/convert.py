"""From GGUF to a folder that every trainer reads.

transformers gives the weights back as plain numbers but marks the model as one that may not be saved, so
they are copied into a fresh model of the same shape. Whatever was rounded stays rounded: a model that was
stored in four bits is not the original again, and `conversion.json` says so.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...errors import SpecError
from ..card.origin import manifest_of
from ..files import digest, new_folder
from ..quiet import quiet_libraries
from .facts import GgufFacts, read_facts

PRECISIONS = ("float32", "bfloat16", "float16")
CONVERSION_FILE = "conversion.json"


def convert_gguf(source: Path, folder: Path, *, precision: str = "float32") -> GgufFacts:
    """Write the model of a GGUF file to `folder`: complete or not at all. Returns what the file said."""
    if precision not in PRECISIONS:
        raise SpecError(f"precision: must be one of {', '.join(PRECISIONS)}, got {precision!r}")
    os.environ.setdefault("TQDM_DISABLE", "1")
    quiet_libraries()
    facts = read_facts(source)
    tokenizer = _tokenizer(facts)
    model = _plain_model(facts, precision)
    tokenizer = _within(tokenizer, model.config.vocab_size)
    with new_folder(folder) as part:
        model.save_pretrained(part)
        tokenizer.save_pretrained(part)
        _copy_licence(source, part)
        (part / CONVERSION_FILE).write_text(_record(facts, precision), encoding="utf-8")
    return facts


def _tokenizer(facts: GgufFacts) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            facts.file.parent, gguf_file=facts.file.name, local_files_only=True, trust_remote_code=False
        )
    except (ValueError, KeyError, OSError, TypeError) as error:
        raise SpecError(f"{facts.file}: its tokenizer cannot be read, {_first_words(error)}") from error
    if facts.chat_template and not tokenizer.chat_template:
        tokenizer.chat_template = facts.chat_template
    return tokenizer


def _plain_model(facts: GgufFacts, precision: str) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    dtype = getattr(torch, precision)
    try:
        read = AutoModelForCausalLM.from_pretrained(
            facts.file.parent,
            gguf_file=facts.file.name,
            dtype=dtype,
            local_files_only=True,
            trust_remote_code=False,
        )
    except (ValueError, KeyError, OSError, RuntimeError) as error:
        raise SpecError(f"{facts.file}: its weights cannot be read, {_first_words(error)}") from error
    known = read.config.to_dict()
    known.pop("quantization_config", None)
    config = type(read.config).from_dict({**known, "tie_word_embeddings": facts.tied, "dtype": precision})
    plain = AutoModelForCausalLM.from_config(config, dtype=dtype)
    missing, unexpected = plain.load_state_dict(read.state_dict(), strict=False)
    lost = [name for name in missing if not (facts.tied and "lm_head" in name)]
    if lost or unexpected:
        raise SpecError(
            f"{facts.file}: {len(lost)} weights are missing and {len(unexpected)} have no place "
            f"(first {(lost + unexpected)[0]}), this variant of {facts.architecture} cannot be converted"
        )
    plain.tie_weights()
    plain.generation_config = read.generation_config
    return plain


def _within(tokenizer: Any, size: int) -> Any:
    """The tokenizer without tokens that reading it added and for which the model has no weights."""
    if len(tokenizer) <= size:
        return tokenizer
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    known = json.loads(tokenizer.backend_tokenizer.to_str())
    known["added_tokens"] = [token for token in known["added_tokens"] if token["id"] < size]
    core = Tokenizer.from_str(json.dumps(known))
    if core.get_vocab_size() > size:
        raise SpecError(
            f"tokenizer: has {core.get_vocab_size()} tokens and the model {size}, fetch the file again"
        )
    special = {name: getattr(tokenizer, name) for name in ("bos_token", "eos_token", "pad_token")}
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        chat_template=tokenizer.chat_template,
        **{name: token for name, token in special.items() if token},
    )


def _copy_licence(source: Path, part: Path) -> None:
    """The licence that lies beside the file, or anywhere in the folder that was given: a package's does."""
    places = source.rglob("LICEN[CS]E*") if source.is_dir() else source.parent.glob("LICEN[CS]E*")
    for found in sorted(path for path in places if path.is_file())[:1]:
        (part / "LICENSE").write_bytes(found.read_bytes())


def _record(facts: GgufFacts, precision: str) -> str:
    known = {**asdict(facts), "file": facts.file.name, "precision": precision, "sha256": digest(facts.file)}
    known.pop("chat_template")
    if manifest := manifest_of(facts.file):
        known |= {"source": manifest.source, "revision": manifest.revision}
    return json.dumps(known, indent=2) + "\n"


def _first_words(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
