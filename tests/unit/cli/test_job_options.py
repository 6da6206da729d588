import click
import pytest

from kfp_trainer.runtime_operator.cli.job_options import age, table


def test_columns_are_as_wide_as_what_a_person_sees():
    assert table([("A", "B"), (click.style("long", fg="red"), "x")]) == "A     B\n\x1b[31mlong\x1b[0m  x"


@pytest.mark.parametrize(
    "seconds, text", [(4.2, "4s"), (90, "1.5m"), (1200, "20m"), (5400, "1.5h"), (200_000, "2.3d")]
)
def test_age(seconds, text):
    assert age(seconds) == text
