"""What a model folder lacks is said before torch is imported."""

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.models import check_model, is_adapter

WHOLE = {
    "config.json": "{}",
    "model.safetensors": "",
    "tokenizer_config.json": "{}",
    "chat_template.jinja": "{{ messages }}",
}


def folder_without(tmp_path, *names: str, more: tuple[str, ...] = ()):
    for name, text in {**WHOLE, **dict.fromkeys(more, "{}")}.items():
        if name not in names:
            (tmp_path / name).write_text(text)
    return tmp_path


LACKS = {
    "no config": (("config.json",), (), "has no config.json"),
    "only pickled weights": (
        ("model.safetensors",),
        ("pytorch_model.bin",),
        r"has no \*.safetensors, convert",
    ),
    "an adapter beside the weights": ((), ("adapter_config.json",), "holds a model and an adapter"),
    "no tokenizer": (("tokenizer_config.json",), (), "has no tokenizer_config.json"),
    "no chat template": (("chat_template.jinja",), (), "has no chat template"),
}


@pytest.mark.parametrize("sentence", LACKS)
def test_a_folder_that_lacks_something(sentence: str, tmp_path) -> None:
    names, more, words = LACKS[sentence]
    with pytest.raises(SpecError, match=words):
        check_model(folder_without(tmp_path, *names, more=more))


def test_a_whole_folder_passes(tmp_path) -> None:
    check_model(folder_without(tmp_path))


def test_a_template_inside_the_configuration_will_do(tmp_path) -> None:
    folder = folder_without(tmp_path, "chat_template.jinja")
    (folder / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}')
    check_model(folder)


def test_a_folder_that_is_not_there_is_named_by_its_setting(tmp_path) -> None:
    with pytest.raises(SpecError, match=r"^tuned: .*none does not exist"):
        check_model(tmp_path / "none", setting="tuned")


def test_an_adapter_alone_is_an_adapter(tmp_path) -> None:
    (tmp_path / "adapter_config.json").touch()
    assert is_adapter(tmp_path)
    (tmp_path / "config.json").touch()
    assert not is_adapter(tmp_path)
