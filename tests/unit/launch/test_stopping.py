"""A process that is told to stop deletes its job first; nothing else goes before."""

import json
import os
import signal
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kfp_trainer.runtime_operator.kube.cluster import Cluster
from kfp_trainer.runtime_operator.kube.identity import Fixed, bearer
from kfp_trainer.runtime_operator.launch import farewell
from kfp_trainer.runtime_operator.launch.farewell import Farewell
from kfp_trainer.runtime_operator.launch.stopping import Told, taken_along

PATH = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/lab/trainjobs/bert"


class Server:
    """An API server that takes DELETEs, and counts connections."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict]] = []
        self.connections, self.answers = 0, [200]
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                server.connections += 1
                super().setup()

            def do_DELETE(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.asked.append((self.path, self.headers["Authorization"], json.loads(body)))
                self.send_response(server.answers.pop(0) if len(server.answers) > 1 else server.answers[0])
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_words: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def cluster(self) -> Cluster:
        address = f"http://127.0.0.1:{self._http.server_port}"
        return Cluster(address, ssl.create_default_context(), Fixed(bearer("t")))

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def until(probe) -> None:
    end = time.monotonic() + 30
    while not probe():
        assert time.monotonic() < end
        time.sleep(0.01)


def stopped(server: Server, number: int, *, is_there: bool = True) -> tuple[int | str | None, list[str]]:
    """Run a block that a signal ends."""
    said: list[str] = []
    with pytest.raises(Told) as told, Farewell(server.cluster, "lab", "bert") as will:
        until(lambda: server.connections)
        with taken_along(will, said.append) as watch:
            watch.is_there = is_there
            os.kill(os.getpid(), number)
            time.sleep(30)
    return told.value.code, said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_sends_one_delete_on_the_open_connection(server: Server, number: int) -> None:
    before = signal.getsignal(number)
    code, said = stopped(server, number)
    assert code == 128 + number
    ((path, authorization, options),) = server.asked
    assert (path, authorization, options["propagationPolicy"]) == (PATH, "Bearer t", "Background")
    assert server.connections == 1
    assert said == ["told to stop: the TrainJob is being deleted"]
    assert signal.getsignal(number) == before


def test_a_job_that_is_only_being_made_is_deleted_once_it_is_there(server: Server) -> None:
    server.answers = [404, 404, 200]
    _, said = stopped(server, signal.SIGTERM, is_there=False)
    assert len(server.asked) == 3
    assert said == ["told to stop: the TrainJob is being deleted"]


def test_where_there_is_nothing_to_delete_that_is_told(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(farewell, "IN_FLIGHT_SECONDS", 0.1)
    server.answers = [404]
    _, said = stopped(server, signal.SIGTERM, is_there=False)
    assert said == ["told to stop: no TrainJob to delete"]


def test_a_block_that_ends_by_itself_deletes_nothing(server: Server) -> None:
    with Farewell(server.cluster, "lab", "bert") as will, taken_along(will, print):
        pass
    assert server.asked == []


def test_the_connection_is_replaced_before_it_is_old(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farewell, "RENEW_SECONDS", 0.02)
    with Farewell(server.cluster, "lab", "bert") as will:
        until(lambda: server.connections > 3)
        assert will.say()


def test_without_a_server_nothing_is_sent_and_nothing_breaks(server: Server) -> None:
    cluster = server.cluster
    server.close()
    with Farewell(cluster, "lab", "bert") as will:
        assert not will.say()


def test_beside_the_main_thread_signals_are_left_alone(server: Server) -> None:
    before, seen = signal.getsignal(signal.SIGTERM), []

    def work() -> None:
        with Farewell(server.cluster, "lab", "bert") as will, taken_along(will, print):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert seen == [before]
