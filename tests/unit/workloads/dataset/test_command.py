"""The commands: what is said on which stream, and with which exit code."""

import json
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.cli import main as cli
from kfp_trainer.runtime_operator.workloads.command import main
from kfp_trainer.runtime_operator.workloads.dataset.command import dataset_command


def rows(file: Path, *, bad: bool = False) -> Path:
    lines = [json.dumps({"prompt": f"q {number}", "completion": f"a {number}"}) for number in range(20)]
    file.write_text("\n".join([*lines, '{"prompt": "a"}'] if bad else lines))
    return file


def test_good_data_is_told_in_four_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rows(tmp_path / "rows.jsonl")
    assert main(dataset_command(), ["check", str(file), "--output", str(tmp_path / "out")]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0].startswith("rows.jsonl: 20 train rows, prompt and completion, ")
    assert said.out.splitlines()[1].startswith("characters: median ")
    assert said.out.splitlines()[2].startswith(f"rows: {tmp_path / 'out' / 'data'} (")
    assert said.out.splitlines()[3] == f"report: {tmp_path / 'out' / 'dataset_report.html'}"
    assert "told: rows.jsonl: is measured in characters" in said.err


def test_the_folder_one_stands_in_has_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows(tmp_path / "rows.jsonl")
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # the second time beside what the first one wrote
        assert main(dataset_command(), ["check", "."]) == 0
        assert capsys.readouterr().out.startswith(f"{tmp_path.name}: 20 train rows")


def test_bad_data_exits_2_with_one_sentence_a_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = rows(tmp_path / "rows.jsonl", bad=True)
    assert cli.run(["dataset", "check", str(file), "--output", str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    mistakes = [line for line in said.err.splitlines() if line.startswith("kfp-trainer: ")]
    assert mistakes == [
        "kfp-trainer: rows.jsonl: row 21: has no completion, only prompt, "
        "fill it in, or map another with --columns (missing-column)"
    ]
    assert (tmp_path / "out" / "dataset_report.html").is_file()


def test_the_dataset_may_stand_in_the_settings(tmp_path: Path) -> None:
    file = rows(tmp_path / "rows.jsonl")
    document = {"dataset": str(file), "output": str(tmp_path / "out"), "columns": {"text": "completion"}}
    (tmp_path / "settings.json").write_text(json.dumps(document))
    assert main(dataset_command(), ["check", "--settings", str(tmp_path / "settings.json")]) == 0
    assert json.loads((tmp_path / "out" / "dataset_report.json").read_text())["shape"] == "text"


@pytest.mark.parametrize(
    "arguments", [["check", "x"], ["look", "x"], ["slice", "x", "y", "--slice", "rows=:1"]]
)
def test_missing_libraries_are_told(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "kfp_trainer.runtime_operator.workloads.dataset.command.LIBRARIES", ("no_such_library",)
    )
    assert main(dataset_command(), arguments) == 3
    assert "no_such_library not installed, run: pip install 'kfp-trainer[local]'" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rows(tmp_path / "rows.jsonl")
    assert main(dataset_command(), ["check", str(file), "--output", str(file / "out")]) == 2
    assert "rows.jsonl/out cannot be made, " in capsys.readouterr().err


def test_no_dataset_at_all_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(dataset_command(), ["check"]) == 2
    assert "dataset: is missing, give a folder with rows" in capsys.readouterr().err


def test_a_look_shows_files_shape_and_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows(tmp_path / "train.jsonl")
    (tmp_path / "extra.pkl").touch()
    (tmp_path / "test.csv").write_text("a,b\n1,2\n")
    assert main(dataset_command(), ["look", str(tmp_path), "--rows", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "extra.pkl: is pickled data (.pkl)",
        "test: 1 files, 8 bytes, CSV",
        "  shape: unknown, columns: of a, b none could be taken for a prompt, an answer, messages or text, "
        "map them: --columns prompt=NAME,completion=NAME",
        "  test.csv: row 1 (line 2)",
        "    a: '1' (text)",
        "    b: '2' (text)",
        f"train: 1 files, {(tmp_path / 'train.jsonl').stat().st_size} bytes, JSON lines",
        "  shape: prompt and completion (prompt=prompt, completion=completion)",
        "  train.jsonl: row 1",
        "    prompt: 'q 0' (text)",
        "    completion: 'a 0' (text)",
    ]


def test_a_look_at_what_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows.jsonl").write_text("{oops\n")
    assert main(dataset_command(), ["look", str(tmp_path / "rows.jsonl")]) == 0
    said = capsys.readouterr().out
    assert "no row of the first ones can be read" in said
    assert "is not JSON" in said


def test_a_slice_for_this_pod(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    file, output = rows(tmp_path / "rows.jsonl"), tmp_path / "part"
    assert main(dataset_command(), ["slice", str(file), str(output), "--slice", "shard=auto/4"]) == 0
    assert capsys.readouterr().out == f"train 5 rows in {output}\n"
