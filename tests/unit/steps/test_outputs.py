"""Every declared output holds something, however a step ends."""

from pathlib import Path

import pytest
from kfp import dsl

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.steps.outputs import describe, every_output, log_metrics, write_value


def page(folder: Path, kind: type[dsl.Artifact] = dsl.HTML) -> dsl.Artifact:
    return kind(name="report", uri=str(folder / "deep/report"), metadata={})


def test_a_step_that_dies_has_left_something(tmp_path: Path) -> None:
    report, value = page(tmp_path), tmp_path / "also/deep/value"
    with pytest.raises(ZeroDivisionError), every_output("Work", report, values={str(value): 0.0}):
        raise ZeroDivisionError
    assert value.read_text() == "0.0"
    assert "has not come to its end" in Path(report.path).read_text()


def test_a_failure_stands_in_pages_and_ends_the_process(tmp_path: Path) -> None:
    html, markdown = page(tmp_path / "a"), page(tmp_path / "b", dsl.Markdown)
    with (
        pytest.raises(SystemExit, match=r"^error: rows: <none> of them$"),
        every_output("Work", html, markdown),
    ):
        raise SpecError("rows: <none> of them")
    assert "rows: &lt;none&gt; of them" in Path(html.path).read_text()
    assert Path(markdown.path).read_text().startswith("# Work failed\n")


def test_an_artifact_that_is_no_page_gets_no_file(tmp_path: Path) -> None:
    model = page(tmp_path, dsl.Model)
    with every_output("Work", model):
        describe(model, path="/m", revision="", digest=None)
    assert model.metadata == {"path": "/m"}
    assert not Path(model.path).exists()


VALUES = {"text": ("a/b", "a/b"), "a number": (0.5, "0.5"), "a truth": (True, "true"), "a list": ([1], "[1]")}


@pytest.mark.parametrize("sentence", VALUES)
def test_values_are_written_as_kfp_reads_them(sentence: str, tmp_path: Path) -> None:
    given, want = VALUES[sentence]
    write_value(str(tmp_path / "value"), given)
    assert (tmp_path / "value").read_text() == want


def test_metrics_are_numbers_under_names_that_the_ui_takes(tmp_path: Path) -> None:
    metrics = page(tmp_path, dsl.Metrics)
    log_metrics(metrics, {"arc/acc": 0.5, "perplexity": float("nan"), "loss": float("inf")})
    assert metrics.metadata == {"arc_acc": 0.5}
