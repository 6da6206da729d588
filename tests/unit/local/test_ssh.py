import copy
from pathlib import Path

from kfp_trainer.runtime_operator.local.ssh import environment, ssh_ports, with_ssh

KEYS = {
    "name": "mpi-ssh-auth",
    "secret": {
        "secretName": "keys",
        "defaultMode": 0o444,
        "items": [{"key": "a", "path": "id_rsa", "mode": 0o640}],
    },
}
MOUNT = {"name": "mpi-ssh-auth", "mountPath": "/home/user/.ssh"}


def pod(*volumes: dict, **container: object) -> dict:
    return {"spec": {"volumes": list(volumes), "containers": [{"name": "node", **container}]}}


def mounted(found: dict) -> dict[str, str]:
    """The text of the file at each mount path that was added."""
    sources = {each["name"]: each.get("hostPath") for each in found["spec"]["volumes"]}
    mounts = found["spec"]["containers"][0]["volumeMounts"]
    return {
        each["mountPath"]: Path(sources[each["name"]]["path"]).read_text()
        for each in mounts
        if sources[each["name"]]
    }


def adapted(document: dict, folder: Path, ports: dict[int, int] | None = None) -> dict:
    return with_ssh(document, folder / "ssh", host="bert-node-0-0", ports=ports or {})


def test_a_pod_without_keys_stays_as_it_is(tmp_path):
    document = pod()
    assert adapted(document, tmp_path) is document


def test_keys_are_the_owners_alone(tmp_path):
    document = pod(KEYS, volumeMounts=[MOUNT])
    before = copy.deepcopy(document)
    secret = adapted(document, tmp_path)["spec"]["volumes"][0]["secret"]
    assert (secret["defaultMode"], secret["items"][0]["mode"]) == (0o400, 0o600)
    assert document == before


def test_ssh_finds_key_and_port(tmp_path):
    files = mounted(adapted(pod(KEYS, volumeMounts=[MOUNT]), tmp_path, {2222: 40000}))
    assert list(files) == ["/etc/ssh/ssh_config"]
    assert "  IdentityFile /home/user/.ssh/id_rsa\n" in files["/etc/ssh/ssh_config"]
    assert "  Port 40000\n" in files["/etc/ssh/ssh_config"]


def test_sshd_gets_the_settings_that_its_image_has(tmp_path):
    command = {"command": ["/usr/sbin/sshd"], "args": ["-De", "-f", "/home/user/.sshd_config"]}
    text = mounted(adapted(pod(KEYS, volumeMounts=[MOUNT], **command), tmp_path))["/home/user/.sshd_config"]
    assert {"Port 2222", "ListenAddress bert-node-0-0", "HostKey /home/user/.ssh/id_rsa"} <= set(
        text.splitlines()
    )


def test_settings_that_this_machine_has_are_left_alone(tmp_path):
    mine = tmp_path / "sshd_config"
    mine.touch()
    command = {"command": ["/usr/sbin/sshd", "-f", str(mine)]}
    assert str(mine) not in mounted(adapted(pod(KEYS, volumeMounts=[MOUNT], **command), tmp_path))


def test_sshd_that_asks_for_nothing_gets_settings_of_the_job(tmp_path):
    files = mounted(adapted(pod(KEYS, volumeMounts=[MOUNT], command=["/usr/sbin/sshd", "-De"]), tmp_path))
    assert "ListenAddress bert-node-0-0\n" in files["/etc/ssh/sshd_config"]


def test_the_keys_of_an_mpijob_are_known_by_what_they_are(tmp_path):
    items = [{"key": "ssh-privatekey", "path": "id_rsa"}]
    keys = {"name": "ssh-auth", "secret": {"secretName": "job-ssh", "items": items}}
    found = adapted(pod(keys, volumeMounts=[{**MOUNT, "name": "ssh-auth"}]), tmp_path)
    assert found["spec"]["volumes"][0]["secret"]["defaultMode"] == 0o600
    assert "  IdentityFile /home/user/.ssh/id_rsa\n" in mounted(found)["/etc/ssh/ssh_config"]


def test_a_volume_of_that_name_that_holds_no_keys_is_left_alone(tmp_path):
    document = pod({"name": "ssh-auth", "secret": {"secretName": "git"}})
    assert adapted(document, tmp_path) is document


def test_a_job_with_keys_needs_a_port_of_its_own():
    assert ssh_ports([pod(), pod(KEYS)]) == {2222}
    assert ssh_ports([pod()]) == set()


def test_open_mpi_may_run_as_root_only_where_root_runs_it():
    assert "OMPI_ALLOW_RUN_AS_ROOT" in environment(root=True)
    assert "OMPI_ALLOW_RUN_AS_ROOT" not in environment(root=False)
