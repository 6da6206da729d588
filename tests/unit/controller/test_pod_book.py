"""Pods that are gone are remembered as long as somebody asks what their job died of."""

from dataclasses import replace

import pytest

from kfp_trainer.runtime_operator.controller.pod_book import GHOSTS, PodBook
from kfp_trainer.runtime_operator.controller.pod_view import Death, PodView
from kfp_trainer.runtime_operator.kube.cache import Cached, Head

JOB = ("lab", "bert")
DEATH = Death("p", "n", "node", 1, "Error", "", "t")
POD = PodView("p", "bert", "u", "n", "Failed", 0, None, (DEATH,))


def cached(pod):
    return Cached(Head("lab", pod.name, "x", "1", 1, False, "", "", ""), b"", pod)


@pytest.fixture
def book():
    return PodBook(lambda key: key == JOB)


def put(book, pod):
    return book.changed(("lab", pod.name), None, cached(pod))


def drop(book, pod):
    return book.changed(("lab", pod.name), cached(pod), None)


def test_a_change_tells_whose_it_is_and_no_change_tells_nothing(book):
    assert put(book, POD) == JOB
    assert book.changed(("lab", "p"), cached(POD), cached(POD)) is None
    assert book.pods(JOB, "u") == [POD]
    assert book.pods(JOB, "another") == []


def test_who_died_is_remembered_until_the_end_is_told(book):
    put(book, POD)
    assert drop(book, POD) == JOB
    assert book.pods(JOB, "u") == []
    assert book.all_pods(JOB, "u") == [POD]
    book.forget(JOB)
    assert book.all_pods(JOB, "u") == []


def test_who_ended_well_is_forgotten(book):
    well = replace(POD, deaths=())
    put(book, well)
    drop(book, well)
    assert book.all_pods(JOB, "u") == []


def test_of_jobs_that_are_not_ours_nothing_is_kept(book):
    other = replace(POD, job="somebody-else")
    put(book, other)
    drop(book, other)
    assert book.all_pods(("lab", "somebody-else"), "u") == []


def test_only_the_last_attempt_is_kept(book):
    for attempt in (0, 2, 1):
        drop(book, replace(POD, name=f"p{attempt}", attempt=attempt))
    assert [each.attempt for each in book.all_pods(JOB, "u")] == [2]


def test_a_namesake_s_dead_are_not_ours(book):
    drop(book, replace(POD, job_uid="old"))
    assert book.all_pods(JOB, "u") == []


def test_not_too_many_are_kept(book):
    for number in range(2 * GHOSTS):
        drop(book, replace(POD, name=f"p{number}"))
    assert len(book.all_pods(JOB, "u")) == GHOSTS
