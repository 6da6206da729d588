from click.testing import CliRunner

from kfp_trainer.runtime_operator.cli.run import logs


def test_a_role_is_asked_for_alone():
    said = CliRunner().invoke(logs, ["job", "--role", "chief", "--all"])
    assert said.exit_code == 2
    assert "--role names pods by itself, and they are not followed: leave the others out" in said.output
