"""A model folder small enough to be made for the tests: a tokenizer, a template, a context of 64 tokens."""

import json
from pathlib import Path

import pytest

CONTEXT = 64
VOCABULARY = 800


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from kfp_trainer.runtime_operator.workloads.tiny.tokenizer import make_tokenizer

    folder = tmp_path_factory.mktemp("model")
    tokenizer = make_tokenizer(["What is the colour of number one two three? It is red, green or blue."] * 20)
    tokenizer.model_max_length = 1 << 62
    tokenizer.save_pretrained(folder)
    (folder / "config.json").write_text(
        json.dumps({"max_position_embeddings": CONTEXT, "vocab_size": VOCABULARY})
    )
    return folder
