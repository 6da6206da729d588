from kfp_trainer.runtime_operator.local.causes import deaths, last_line


def pod(code: int, finished: str, *, reason: str = "Error", message: str = "", part: str = "state") -> dict:
    ended = {"exitCode": code, "reason": reason, "finishedAt": finished, "message": message}
    return {"containerStatuses": [{"name": "node", part: {"terminated": ended}}]}


def test_who_died_first_is_the_cause_not_who_was_told_to_stop():
    found = deaths([("b", pod(143, "01")), ("c", pod(1, "03")), ("a", pod(7, "02", message="boom"))])
    assert [each.pod for each in found] == ["a", "c", "b"]
    assert str(found[0]) == "pod a, container node: exit code 7: boom"


def test_a_process_that_ran_out_of_memory_is_a_cause_though_it_was_killed():
    found = deaths([("a", pod(1, "02")), ("b", pod(137, "01", reason="OOMKilled"))])
    assert str(found[0]) == "pod b, container node: exit code 137 (OOMKilled)"


def test_a_run_before_the_last_one_counts_too():
    assert [each.exit_code for each in deaths([("a", pod(2, "01", part="lastState"))])] == [2]


def test_a_good_end_is_no_death():
    assert deaths([("a", pod(0, "01"))]) == []


def test_last_words_are_one_line_of_bearable_length():
    assert last_line("Traceback\n  in f\nValueError: no data\n\n") == "ValueError: no data"
    assert len(last_line("x" * 1000)) < 320
