"""A settings document tells every mistake at once, in words that say what to do."""

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.settings import parse_settings, read_document

GIVEN = {"model": "base", "dataset": "data", "output": "run"}

MISTAKES = {
    "a misspelt field is answered with the nearest": (
        {**GIVEN, "lora_ranks": 8},
        ["lora_ranks: is not a setting (given 8), did you mean lora_rank"],
    ),
    "a field that is like no other is answered with all": (
        {**GIVEN, "zzz": 1},
        ["zzz: is not a setting (given 1), known are model, dataset, output, "],
    ),
    "what is missing is asked for by what it is": (
        {"dataset": "data", "output": "run"},
        ["model: is missing, give the folder of the base model"],
    ),
    "a value out of range is shown": (
        {**GIVEN, "batch_size": 0},
        ["batch_size: should be greater than 0 (given 0)"],
    ),
    "text that is no number is shown": ({**GIVEN, "max_steps": "many"}, ["(given 'many')"]),
    "a choice names its choices": (
        {**GIVEN, "method": "adapter"},
        ["method: should be 'lora', 'full', 'qlora' or 'dora' (given 'adapter')"],
    ),
    "packing pairs": ({**GIVEN, "objective": "dpo", "packing": True}, ["packing: dpo compares whole rows"]),
    "stopping early without a look": (
        {**GIVEN, "early_stopping": 2},
        ["early_stopping: nothing is looked at"],
    ),
    "sharing out weights of 4 bits": (
        {**GIVEN, "method": "qlora", "spread": "fsdp2"},
        ["spread: qlora's weights of 4 bits are not shared out, take ddp"],
    ),
    "no merging where nothing is merged": (
        {**GIVEN, "method": "full", "merge": False},
        ["merge: full fine-tuning has no adapter"],
    ),
    "two mistakes are two sentences": (
        {**GIVEN, "seed": -1, "epoch": 2},
        [
            "seed: should be greater than or equal to 0",
            "epoch: is not a setting (given 2), did you mean epochs",
        ],
    ),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes(sentence: str) -> None:
    document, expected = MISTAKES[sentence]
    with pytest.raises(SpecError) as caught:
        parse_settings(FinetuneSettings, document)
    assert len(caught.value.errors) == len(expected)
    for words in expected:
        assert words in str(caught.value)


def test_flags_come_as_text() -> None:
    settings = parse_settings(
        FinetuneSettings, {**GIVEN, "lora_targets": "q_proj, v_proj", "batch_size": "8"}
    )
    assert settings.lora_targets == ("q_proj", "v_proj")
    assert settings.batch_size == 8


RATES = {
    "lora has its own rate": ({}, 2e-4),
    "full has a smaller one": ({"method": "full"}, 2e-5),
    "comparing answers takes a small rate": ({"objective": "dpo"}, 2e-5),
    "and all weights a smaller one": ({"objective": "dpo", "method": "full"}, 1e-6),
    "a given rate wins": ({"learning_rate": 0.5}, 0.5),
}


@pytest.mark.parametrize("sentence", RATES)
def test_rate(sentence: str) -> None:
    given, rate = RATES[sentence]
    assert parse_settings(FinetuneSettings, {**GIVEN, **given}).rate == rate


def test_every_setting_is_documented() -> None:
    assert all(field.description for field in FinetuneSettings.model_fields.values())


FILES = {
    "a list is no settings document": ("- a\n- b\n", "holds a list, give a mapping"),
    "broken YAML says where": ("a: [1\n", "is neither YAML nor JSON"),
}


@pytest.mark.parametrize("sentence", FILES)
def test_files_refused(sentence: str, tmp_path) -> None:
    text, words = FILES[sentence]
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(SpecError, match=words):
        read_document(file)


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(SpecError, match=r"none\.yaml: cannot be read, No such file"):
        read_document(tmp_path / "none.yaml")
