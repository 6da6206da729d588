"""What a killed run was writing does not stay for ever."""

from pathlib import Path

from kfp_trainer.runtime_operator.workloads.finetune.outputs import clear_leftovers


def test_leftovers_are_cleared_and_nothing_else(tmp_path: Path) -> None:
    for name in (".merged.part-17", ".adapter.old-17", "merged", ".mine"):
        (tmp_path / name).mkdir()
    (tmp_path / ".result.json.part-17").touch()
    (tmp_path / ".merged.part-17" / "model.safetensors").touch()
    clear_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"merged", ".mine"}
