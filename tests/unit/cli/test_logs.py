from itertools import combinations

import pytest
from click.testing import CliRunner

from kfp_trainer.runtime_operator.cli.run import logs

WAYS = list(combinations((("--all",), ("--pod", "job-node-0-0"), ("--role", "chief")), 2))


@pytest.mark.parametrize("ways", WAYS, ids=[f"{one[0]} and {other[0]}" for one, other in WAYS])
def test_whose_lines_is_said_once(ways):
    said = CliRunner().invoke(logs, ["job", *(word for way in ways for word in way)])
    assert said.exit_code == 2
    assert "--all, --pod and --role each say whose lines to print: give one of them" in said.output
