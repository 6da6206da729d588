"""The head of a GGUF file is read before anything heavy, and a file that cannot be converted is refused."""

from pathlib import Path

import gguf
import numpy
import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.command import main
from kfp_trainer.runtime_operator.workloads.gguf import find_gguf, read_facts
from kfp_trainer.runtime_operator.workloads.gguf.command import gguf_command

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of libraries, on import


def head(file: Path, architecture: str = "llama", **more: object) -> Path:
    writer = gguf.GGUFWriter(file, architecture)
    writer.add_name("Small")
    writer.add_license("apache-2.0")
    writer.add_context_length(128)
    if more.get("parts"):
        writer.add_uint16("split.count", 3)
    writer.add_tensor("token_embd.weight", numpy.ones((4, 8), dtype=numpy.float32))
    if more.get("own_head"):
        writer.add_tensor("output.weight", numpy.ones((4, 8), dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def test_what_a_head_says(tmp_path: Path) -> None:
    facts = read_facts(head(tmp_path / "small.gguf"))
    assert (facts.name, facts.architecture, facts.licence) == ("Small", "llama", "apache-2.0")
    assert (facts.context, facts.parameters, facts.roundings) == (128, 32, {"F32": 1})
    assert facts.chat_template is None
    assert facts.tied
    assert not read_facts(head(tmp_path / "own.gguf", own_head=True)).tied


@pytest.mark.parametrize("family", ["qwen2moe", "qwen3", "gemma3", "gpt-oss", "phi3"])
def test_families_that_are_read(family: str, tmp_path: Path) -> None:
    assert read_facts(head(tmp_path / "small.gguf", family)).architecture == family


def test_a_folder_with_one_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    file = head(tmp_path / "deep" / "small.gguf")
    assert find_gguf(tmp_path) == file
    head(tmp_path / "other.gguf")
    with pytest.raises(SpecError, match=r"must hold one GGUF file, it holds deep/small.gguf, other.gguf"):
        find_gguf(tmp_path)


WRONG = {
    "no such file": (lambda file: None, "does not exist, give a GGUF file"),
    "another format": (lambda file: file.write_bytes(b"PK\3\4 and so on"), r"is not a GGUF file \(it begins"),
    "a file that ends early": (
        lambda file: file.write_bytes(head(file).read_bytes()[:120]),
        "ends early or is damaged",
    ),
    "a family that transformers does not read": (
        lambda file: head(file, "rwkv6"),
        "holds a model of the family 'rwkv6', transformers reads bloom, ",
    ),
    "one part of several": (lambda file: head(file, parts=True), "is one of 3 parts, join them first"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_file_that_cannot_be_converted(sentence: str, tmp_path: Path) -> None:
    make, words = WRONG[sentence]
    make(tmp_path / "small.gguf")
    with pytest.raises(SpecError, match=words):
        read_facts(tmp_path / "small.gguf")


def test_the_command_says_it_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(gguf_command(), [str(tmp_path / "none.gguf"), str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.endswith("none.gguf: does not exist, give a GGUF file\n")
    assert not (tmp_path / "out").exists()
