"""What stands in the files a command is given."""

import io
from types import SimpleNamespace

import pytest

from kfp_trainer.runtime_operator.cli import documents
from kfp_trainer.runtime_operator.cli.documents import read_documents, shipped_runtimes
from kfp_trainer.runtime_operator.errors import SpecError

JOB = "kind: TrainJob\nmetadata: {name: bert}\n"
QUEUE = "kind: Queue\nmetadata: {name: q}\n"


@pytest.fixture
def write(tmp_path):
    def to(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return to


def names(found):
    return [f"{each['kind']}/{each['metadata']['name']}" for each in found]


def test_all_documents_of_all_files_in_their_order(write):
    found = read_documents([write("a.yaml", f"{JOB}---\n{QUEUE}"), write("b.yaml", QUEUE.replace("q", "r"))])
    assert names(found) == ["TrainJob/bert", "Queue/q", "Queue/r"]


def test_a_list_is_what_it_holds(write):
    text = f"apiVersion: v1\nkind: List\nitems:\n- {{{JOB.strip().replace(chr(10), ', ')}}}\n"
    assert names(read_documents([write("a.yaml", text)])) == ["TrainJob/bert"]


def test_a_byte_order_mark_is_no_text(write):
    assert names(read_documents([write("a.yaml", b"\xef\xbb\xbf" + JOB.encode())])) == ["TrainJob/bert"]


def test_a_dash_is_stdin(monkeypatch):
    monkeypatch.setattr(documents.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(JOB.encode())))
    assert names(read_documents(["-"])) == ["TrainJob/bert"]


REFUSED = {
    "no kind": ("metadata: {name: a}", "kind: required, missing in the document at FILE:1:1"),
    "an empty kind": ("kind: ''\nmetadata: {name: a}", "kind: required, missing in the document at FILE:1:1"),
    "a kind that is no text": (
        "kind: [a]\nmetadata: {name: a}",
        "kind: must be text, got ['a'], at FILE:1:1",
    ),
    "no metadata": ("kind: TrainJob", "metadata: required, missing in the document at FILE:1:1"),
    "metadata without anything": (
        "kind: TrainJob\nmetadata: {}",
        "metadata.name: required, missing in the document at FILE:1:1",
    ),
    "metadata that is a list": (
        "kind: A\nmetadata: [a]",
        "metadata: must be a mapping, got ['a'], at FILE:1:1",
    ),
    "no name, in the second document": (
        f"{JOB}---\nkind: TrainJob\nmetadata: {{labels: {{a: b}}}}",
        "metadata.name: required, missing in the document at FILE:4:1",
    ),
    "a name that is a number": (
        "kind: A\nmetadata: {name: 7}",
        "metadata.name: must be text, got 7, at FILE:1:1",
    ),
    "an item that is a word": (
        "kind: List\nitems: [a]",
        "FILE:1:1: items[0]: an item must be a mapping, got 'a'",
    ),
    "an item without a name": (
        "kind: JobList\nitems: [{kind: A, metadata: {a: b}}]",
        "metadata.name: required, missing in the document at FILE:1:1: items[0]",
    ),
    "nothing": ("# nothing", "FILE: no document in it; write a job, or name another file"),
    "not UTF-8": (b"kind: a\nname: \xff", "FILE:2: not UTF-8: invalid start byte; save it as UTF-8"),
    "broken": ("a: [", "FILE:2:1: while parsing a flow node did not find expected node content"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_mistake_has_a_place(sentence, write):
    content, want = REFUSED[sentence]
    path = write("job.yaml", content)
    with pytest.raises(SpecError) as caught:
        read_documents([path])
    assert str(caught.value).replace(path, "FILE").startswith(want)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(SpecError, match="is a folder; name the files in it"):
        read_documents([str(tmp_path)])


def test_a_file_that_is_not_there_is_told_by_its_name(tmp_path):
    path = str(tmp_path / "none.yaml")
    with pytest.raises(SpecError, match=r"none\.yaml: cannot be read: No such file or directory"):
        read_documents([path])


def test_a_name_that_the_cluster_will_make_is_a_name(write):
    found = read_documents([write("a.yaml", "kind: TrainJob\nmetadata: {generateName: bert-}")])
    assert found[0]["metadata"] == {"generateName": "bert-"}


def test_a_list_kind_without_items_is_an_object(write):
    assert names(read_documents([write("a.yaml", "kind: AccessList\nmetadata: {name: a}")])) == [
        "AccessList/a"
    ]


def test_the_shipped_runtimes_are_runtimes():
    assert {each["kind"] for each in shipped_runtimes()} <= {"ClusterTrainingRuntime", "TrainingRuntime"}
