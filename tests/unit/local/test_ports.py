import socket

import pytest

from kfp_trainer.runtime_operator.local.ports import RANGE, can_listen, choose_ports, named_ports


def pod(**container) -> dict:
    return {"spec": {"containers": [{"name": "node", **container}]}}


NAMED = {
    "a container port": (pod(ports=[{"containerPort": 8080}]), [], [8080]),
    "a variable whose name ends in PORT": (pod(env=[{"name": "MASTER_PORT", "value": "29500"}]), [], [29500]),
    "a number in another variable is no port": (pod(env=[{"name": "SEED", "value": "29500"}]), [], []),
    "an option": (pod(command=["server", "--port", "80", "--seed", "7"]), [], [80]),
    "an option with an equals sign": (pod(args=["--master-port=29400"]), [], [29400]),
    "a port behind a host name of the job": (pod(args=["tcp://rank-0.job:23456"]), [], [23456]),
    "a port behind another host name stays": (pod(args=["http://huggingface.co:443"]), [], []),
    "a port in a generated file": (pod(), ["server: rank-0.job:2379"], [2379]),
    "a number of processes in a hostfile is no port": (pod(), ["rank-0.job:2\nrank-0.job:8"], []),
    "the port of a probe": (pod(readinessProbe={"tcpSocket": {"port": 2222}}), [], [2222]),
    "a named port of a probe is a container port": (pod(readinessProbe={"httpGet": {"port": "web"}}), [], []),
    "no port is higher than 65535": (pod(env=[{"name": "PORT", "value": "99999"}]), [], []),
}


@pytest.mark.parametrize("sentence", NAMED)
def test_ports_that_a_job_names(sentence):
    template, texts, expected = NAMED[sentence]
    assert named_ports([template], texts, {"rank-0.job": "127.128.0.1"}) == expected


def test_every_job_gets_ports_of_its_own():
    first = choose_ports([29500, 8080], set())
    second = choose_ports([29500, 8080], set(first.values()))
    assert len({*first.values(), *second.values()}) == 4
    assert {*first.values(), *second.values()} <= set(RANGE)


def test_the_one_port_that_is_left_is_found(monkeypatch):
    monkeypatch.setattr("kfp_trainer.runtime_operator.local.ports.RANGE", range(20_000, 20_003))
    monkeypatch.setattr("kfp_trainer.runtime_operator.local.ports.can_listen", lambda port: port != 20_001)
    assert choose_ports([29500], {20_000}) == {29500: 20_002}


def test_a_port_on_which_something_listens_is_not_free():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not can_listen(server.getsockname()[1])
