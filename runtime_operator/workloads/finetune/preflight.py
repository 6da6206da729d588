"""What can be known to go wrong before anything heavy is loaded, each in one sentence.

A run that is going to fail must do so in its first second, on the machine of the person who wrote it, and
not after an hour in a queue for a GPU.
"""

from __future__ import annotations

import json
import os
import shutil
import urllib.error
import urllib.request
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from ...errors import SetupError, SpecError
from ..models import check_model
from .examples import Rows
from .model_facts import ModelFacts
from .outputs import ADAPTER, CHECKPOINTS, MERGED
from .plan import trained_parameters
from .result import PROGRESS_FILE, RESULT_FILE
from .settings import FinetuneSettings

FLOATS = ("F64", "F32", "F16", "BF16")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt", "tekken.json")
EIGHT_BIT = ("adamw_8bit", "paged_adamw_8bit")
ANSWER_SECONDS = 20
MLFLOW = "MLFLOW_TRACKING_URI"
TRACKERS = {"tensorboard": "tensorboard", "mlflow": "mlflow"}


def check_settings(settings: FinetuneSettings) -> None:
    """What the settings ask for that this installation or these folders cannot give."""
    if settings.output.resolve() in (settings.model.resolve(), settings.dataset.resolve()):
        raise SpecError(f"output: {settings.output} is where the run reads from, give another folder")
    output, read = settings.output.resolve(), (settings.model.resolve(), settings.dataset.resolve())
    inside = next((folder for folder in read if folder in output.parents), None)
    if inside:
        raise SpecError(f"output: {settings.output} lies in {inside}, which the run reads, give another")
    if settings.output.exists() and not settings.output.is_dir():
        raise SpecError(f"output: {settings.output} is a file, give a folder")
    parent = next(path for path in (settings.output, *settings.output.absolute().parents) if path.exists())
    if not os.access(parent, os.W_OK):
        raise SpecError(f"output: {parent} may not be written to, give another folder")
    if settings.method == "qlora" or settings.optimizer in EIGHT_BIT:
        what = "method qlora" if settings.method == "qlora" else f"optimizer {settings.optimizer}"
        _needs("bitsandbytes", what)
    for name in settings.report_to:
        _needs(TRACKERS[name], f"report_to {name}")
    if "mlflow" in settings.report_to and not os.environ.get(MLFLOW):
        raise SetupError(f"report_to mlflow: {MLFLOW} is not set, put the address of the server there")


def check_foreign(output: Path) -> None:
    """Nobody's work is replaced: what is written over must be a run's."""
    ours = any((output / name).exists() for name in (PROGRESS_FILE, RESULT_FILE))
    foreign = [name for name in (ADAPTER, MERGED, CHECKPOINTS) if (output / name).exists()]
    if foreign and not ours:
        raise SpecError(f"output: {output} holds {foreign[0]}, which no run has put there, give another")


def check_model_facts(settings: FinetuneSettings, model: ModelFacts) -> None:
    """What keeps this model from being trained in this way."""
    folder = settings.model
    if model.needs_code and not settings.trust_remote_code:
        raise SpecError(
            f"model: {folder} brings a program of its own (auto_map in config.json), "
            "read it and give trust_remote_code, or take another model"
        )
    if model.architectures and not any(_generates(name) for name in model.architectures):
        raise SpecError(
            f"model: {folder} is a {model.architectures[0]}, give a causal language model (…ForCausalLM)"
        )
    if model.quantised:
        raise SpecError(
            f"model: {folder} is quantised already ({model.quantised}), give the original weights; "
            "method qlora quantises them by itself"
        )
    kinds = sorted({tensor.kind for tensor in model.tensors} - set(FLOATS))
    if kinds:
        raise SpecError(f"model: {folder} holds weights of type {kinds[0]}, give F32, F16 or BF16")
    limit = model.context
    if limit and "sequence_length" in settings.model_fields_set and settings.sequence_length > limit:
        raise SpecError(
            f"sequence_length: {settings.sequence_length} is more than the {limit} tokens that "
            f"{folder} can read, give at most {limit}"
        )
    _check_vocabulary(folder, model)
    if settings.has_adapter:
        _check_targets(settings, model)


def check_tracker(settings: FinetuneSettings) -> None:
    """Whether the MLflow server answers; its own client would wait for minutes, after the model is loaded."""
    address = os.environ.get(MLFLOW, "")
    if "mlflow" not in settings.report_to or urlsplit(address).scheme not in ("http", "https"):
        return
    try:
        urllib.request.urlopen(f"{address.rstrip('/')}/health", timeout=ANSWER_SECONDS).close()
    except urllib.error.HTTPError as error:
        error.close()  # refused or unknown, but somebody is there
    except OSError as error:
        why = getattr(error, "reason", error)
        raise SetupError(
            f"report_to mlflow: the server {urlsplit(address).hostname} of {MLFLOW} does not answer ({why}), "
            "start it, mend the address, or leave mlflow out"
        ) from None


def check_rows(settings: FinetuneSettings, rows: Rows) -> None:
    """What the rows need of the model's folder."""
    if rows.has_turns:
        check_model(settings.model)
    asked = settings.answers_only and "answers_only" in settings.model_fields_set
    if asked and not rows.has_turns:
        raise SpecError("answers_only: the rows are plain text and have no answers, leave it out")


def check_space(settings: FinetuneSettings, model: ModelFacts, *, checkpoints: bool) -> None:
    """Whether the results, and a checkpoint or two, have room."""
    whole, trained = 4 * model.parameters, trained_parameters(settings, model)
    needed = whole if settings.merge else 0
    needed += 4 * trained if settings.has_adapter else 0
    needed += (settings.keep_checkpoints + 1) * 12 * trained if checkpoints else 0
    parent = next(path for path in (settings.output, *settings.output.absolute().parents) if path.exists())
    free = shutil.disk_usage(parent).free
    if free < needed:
        raise SpecError(
            f"output: the results and checkpoints need {needed / 2**30:.2f} GiB and {parent} has "
            f"{free / 2**30:.2f} GiB free, make room, lower keep_checkpoints or leave merge out"
        )


def _needs(package: str, what: str) -> None:
    if find_spec(package) is None:
        raise SetupError(f"{what}: the package {package} is not installed, pip install {package}")


def _generates(architecture: str) -> bool:
    return architecture.endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration"))


def _check_vocabulary(folder: Path, model: ModelFacts) -> None:
    file = folder / "tokenizer.json"
    if not any((folder / name).is_file() for name in TOKENIZERS) and not model.needs_code:
        raise SpecError(f"model: {folder} has no tokenizer.json, put the tokenizer beside the weights")
    if not file.is_file() or not model.vocabulary:
        return
    try:
        known = json.loads(file.read_bytes())
        numbers = [each["id"] for each in known.get("added_tokens", [])]
        words = known["model"].get("vocab", {})
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SpecError(f"model: {file} is damaged, fetch it again") from None
    numbers += [max(words.values(), default=0)] if isinstance(words, dict) else [len(words) - 1]
    highest = max(numbers, default=0)
    if highest >= model.vocabulary:
        raise SpecError(
            f"model: the tokenizer of {folder} has token {highest} and the model {model.vocabulary} "
            "tokens, put the tokenizer beside the weights that belongs to them"
        )


def _check_targets(settings: FinetuneSettings, model: ModelFacts) -> None:
    wrong = [name for name in settings.lora_targets or ("",) if not model.targets((name,))]
    if not wrong:
        _check_shapes(settings, model)
        return
    names = ", ".join(wrong)
    ends = sorted({tensor.name.removesuffix(".weight").rpartition(".")[2] for tensor in model.linear})
    near = get_close_matches(wrong[0], ends, n=1)
    hint = f"did you mean {near[0]}" if near else f"it has {', '.join(ends) or 'none'}; or try all-linear"
    raise SpecError(f"lora_targets: {names or 'nothing'} matches no layer of {settings.model}, {hint}")


def _check_shapes(settings: FinetuneSettings, model: ModelFacts) -> None:
    for name in settings.lora_targets:
        flat = [tensor.name for tensor in model.targets((name,)) if len(tensor.shape) != 2]
        if flat:
            raise SpecError(
                f"lora_targets: {name} is {flat[0]}, which is no matrix, name layers such as q_proj, "
                "or all-linear"
            )
