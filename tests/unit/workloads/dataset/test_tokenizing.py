"""Rows are counted exactly as transformers counts them; what a template refuses is told row by row."""

import json
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import SetupError, SpecError
from kfp_trainer.runtime_operator.workloads.dataset import tokenizing
from kfp_trainer.runtime_operator.workloads.dataset.example import Example
from kfp_trainer.runtime_operator.workloads.dataset.model import ModelReader
from kfp_trainer.runtime_operator.workloads.models import load_tokenizer

STRICT = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system here') }}{% endif %}"
    "{{ m['role'] + ':' + m['content'] + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant:' }}{% endif %}"
)
THINKING = (
    "{% for m in messages %}{{ m['role'] + ':' + m['content'] + '<|im_end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant:<think>' }}{% endif %}"
)
FORGETFUL = "{% for m in messages %}{% if m['role'] == 'user' %}{{ m['content'] }}{% endif %}{% endfor %}"
WITH_TOOLS = (
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m['content'] }}{% endfor %}"
)


def turn(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def example(prompt: str, answer: str, *, system: str = "", rejected: str = "") -> Example:
    before = (turn("system", system),) if system else ()
    worse = (turn("assistant", rejected),) if rejected else ()
    return Example((*before, turn("user", prompt)), (turn("assistant", answer),), worse)


def with_template(model: Path, folder: Path, template: str | None) -> Path:
    for file in model.iterdir():
        if file.name != "chat_template.jinja":
            (folder / file.name).write_bytes(file.read_bytes())
    if template:
        (folder / "chat_template.jinja").write_text(template)
    return folder


def test_rows_are_as_long_as_transformers_says(model: Path) -> None:
    tokenizer = load_tokenizer(model)
    examples = [
        example("What is red?", "blue"),
        example("émigré ✓", "日本", system="Be brief."),
        example("a", "short", rejected="a much longer answer"),
        Example((), (), text="once upon a time"),
    ]
    texts = [
        tokenizer.apply_chat_template(examples[0].turns, tokenize=False),
        tokenizer.apply_chat_template(examples[1].turns, tokenize=False),
        tokenizer.apply_chat_template([*examples[2].prompt, *examples[2].rejected], tokenize=False),
        "once upon a time",
    ]
    with ModelReader(model) as reader:
        measured = reader.measure(examples)
        assert reader.render(examples) == texts
    expected = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts]
    assert [one["tokens"] for one in measured] == expected
    assert not any(one["remarks"] for one in measured)


def test_long_texts_are_counted_piece_by_piece(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizing, "PORTION", 500)
    monkeypatch.setattr(tokenizing, "PIECE", 100)
    counter = tokenizing.Counter(load_tokenizer(model), None)
    texts = ["red " * number for number in (1, 50, 100, 2, 1000, 3)]
    whole = [len(load_tokenizer(model)(text, add_special_tokens=False)["input_ids"]) for text in texts]
    found = list(counter._lengths(texts))
    cuts = [len(text) // 100 for text in texts]
    assert all(abs(one - other) <= 2 * cut for one, other, cut in zip(found, whole, cuts, strict=True))
    assert [*found[:4], found[5]] == [*whole[:4], whole[5]]


def test_a_prompt_is_counted_where_the_row_is_too_long(model: Path) -> None:
    tokenizer = load_tokenizer(model)
    long = example("red " * 30, "blue " * 30)
    with ModelReader(model, 40) as reader:
        short, measured = reader.measure([example("a", "b"), long])
    text = tokenizer.apply_chat_template(list(long.prompt), tokenize=False, add_generation_prompt=True)
    assert "prompt" not in short
    assert measured["prompt"] == len(tokenizer(text, add_special_tokens=False)["input_ids"])


def test_a_template_refuses_one_row_and_reads_the_others(model: Path, tmp_path: Path) -> None:
    with ModelReader(with_template(model, tmp_path, STRICT)) as reader:
        measured = reader.measure([example("a", "b"), example("a", "b", system="s"), example("c", "d")])
    assert ["refused" in one for one in measured] == [False, True, False]
    assert measured[1]["refused"] == "no system here"


REMARKS = {
    "a template that forgets the answer": (FORGETFUL, ["answer-lost"]),
    "a template that ends no answer": (STRICT, ["open-end"]),
    "a template that opens answers otherwise than it writes them": (THINKING, ["prompt-differs"]),
}


@pytest.mark.parametrize("sentence", REMARKS)
def test_what_is_odd_about_a_template(sentence: str, model: Path, tmp_path: Path) -> None:
    template, rules = REMARKS[sentence]
    with ModelReader(with_template(model, tmp_path, template)) as reader:
        assert [one["remarks"] for one in reader.measure([example("question", "answer")])] == [rules]


def test_a_template_is_given_the_tools(model: Path, tmp_path: Path) -> None:
    tools = ({"type": "function", "function": {"name": "find", "parameters": {}}},)
    row = Example((turn("user", "a"),), (turn("assistant", "b"),), tools=tools)
    with ModelReader(with_template(model, tmp_path, WITH_TOOLS)) as reader:
        assert '"name": "find"' in reader.render([row])[0]


def test_a_model_without_a_template_reads_turns_below_each_other(model: Path, tmp_path: Path) -> None:
    with ModelReader(with_template(model, tmp_path, None)) as reader:
        assert not reader.has_template
        assert reader.render([example("a", "b")]) == ["user: a\nassistant: b"]


def test_a_model_with_fewer_weights_than_tokens_is_told(model: Path, tmp_path: Path) -> None:
    folder = with_template(model, tmp_path, STRICT)
    (folder / "config.json").write_text('{"vocab_size": 10}')
    with ModelReader(folder) as reader:
        assert reader.vocabulary_fault
        assert "its config.json says 10" in reader.vocabulary_fault.detail
    with ModelReader(model) as reader:
        assert reader.vocabulary_fault is None


CONTEXTS = {
    "the configuration says it": ({"max_position_embeddings": 64}, None, 64),
    "a part of the configuration says it": ({"text_config": {"max_position_embeddings": 48}}, None, 48),
    "the tokenizer says less": ({"max_position_embeddings": 64}, 32, 32),
    "nobody says it": ({}, None, None),
}


@pytest.mark.parametrize("sentence", CONTEXTS)
def test_how_much_a_model_reads(sentence: str, model: Path, tmp_path: Path) -> None:
    config, longest, expected = CONTEXTS[sentence]
    folder = with_template(model, tmp_path, STRICT)
    (folder / "config.json").write_text(json.dumps(config))
    if longest:
        known = json.loads((folder / "tokenizer_config.json").read_text())
        (folder / "tokenizer_config.json").write_text(json.dumps({**known, "model_max_length": longest}))
    with ModelReader(folder) as reader:
        assert (reader.context, reader.room) == (expected, expected)


def test_more_than_a_model_reads_is_refused(model: Path) -> None:
    with pytest.raises(SpecError, match="sequence_length: 65 is more than the 64 tokens that"):
        ModelReader(model, 65)


FOLDERS: dict[str, tuple[dict[str, str], str]] = {
    "no tokenizer": ({}, "has no tokenizer.json"),
    "a tokenizer that is damaged": (
        {"tokenizer.json": "{", "tokenizer_config.json": "{}"},
        "cannot be loaded",
    ),
    "a configuration that is damaged": (
        {"tokenizer.json": "{}", "config.json": "{"},
        "config.json is not JSON",
    ),
    "a tokenizer that needs code of its own": (
        {
            "tokenizer_config.json": json.dumps(
                {"auto_map": {"AutoTokenizer": ["own.Own", None]}, "tokenizer_class": "Own"}
            ),
            "own.py": "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n",
        },
        "cannot be loaded",
    ),
}


@pytest.mark.parametrize("sentence", FOLDERS)
def test_a_folder_that_cannot_count(sentence: str, tmp_path: Path) -> None:
    files, words = FOLDERS[sentence]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(SpecError, match=words):
        ModelReader(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_counter_that_dies_is_told(model: Path) -> None:
    with ModelReader(model) as reader:
        reader._process.kill()
        reader._process.wait()
        with pytest.raises(SetupError, match="ended with exit code -9"):
            reader.measure([example("a", "b")])


def test_torch_stays_out_of_the_counting_process() -> None:
    import subprocess
    import sys

    program = (
        "import sys\n"
        "from kfp_trainer.runtime_operator.workloads.dataset import check, tokenizing\n"
        "print(*sorted({'torch', 'transformers', 'datasets', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""
