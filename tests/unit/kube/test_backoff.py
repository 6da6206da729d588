"""How long to wait."""

from kfp_trainer.runtime_operator.kube.backoff import Backoff


def test_waits_double_up_to_the_cap() -> None:
    waits = Backoff(0.1, 3.0, chance=lambda: 1.0)
    assert [round(waits.next(), 3) for _ in range(7)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 3.0]
    waits.reset()
    assert waits.next() == 0.1


def test_chance_takes_off_up_to_half() -> None:
    assert Backoff(2.0, 3.0, chance=lambda: 0.0).next() == 1.0


def test_what_the_server_asked_for_is_never_cut_short() -> None:
    assert Backoff(0.1, 3.0).next(17.0) == 17.0


def test_a_thousand_failures_overflow_nothing() -> None:
    assert Backoff(1.0, 3.0, chance=lambda: 1.0, tries=100_000).next() == 3.0
