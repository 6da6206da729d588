"""Volumes as folders and files of this machine."""

import pytest

from kfp_trainer.runtime_operator.local.process import volumes
from kfp_trainer.runtime_operator.local.process.failures import ConfigError, StartError
from kfp_trainer.runtime_operator.local.process.fields import Machine
from kfp_trainer.runtime_operator.local.process.place import Place
from kfp_trainer.runtime_operator.local.process.references import Found
from kfp_trainer.runtime_operator.local.process.volumes import (
    host_path,
    make_volumes,
    memory_folder,
    readable,
)


def same(content):
    return content


def made(tmp_path, volume, found=None):
    pod = {"metadata": {"name": "p"}, "spec": {"volumes": [{"name": "v", **volume}]}}
    place = Place(tmp_path / "pod")
    machine = Machine("1", "1Gi")
    return make_volumes(pod, place=place, found=found or Found(), machine=machine, rewrite=same)["v"]


# sentence: (what is there, type, error)
HOST_PATHS = {
    "a folder of any type": ("folder", "", None),
    "a folder": ("folder", "Directory", None),
    "a folder that is made": ("", "DirectoryOrCreate", None),
    "a file": ("file", "File", None),
    "a file that is made": ("", "FileOrCreate", None),
    "nothing": ("", "", FileNotFoundError),
    "a file for a folder": ("file", "Directory", NotADirectoryError),
    "a folder for a file": ("folder", "File", FileNotFoundError),
}


@pytest.mark.parametrize("sentence", HOST_PATHS)
def test_host_path(sentence, tmp_path):
    there, kind, error = HOST_PATHS[sentence]
    path = tmp_path / "x"
    if there:
        path.mkdir() if there == "folder" else path.touch()
    if error is None:
        assert host_path({"path": str(path), "type": kind}) == path
        assert path.exists()
    else:
        with pytest.raises(error):
            host_path({"path": str(path), "type": kind})


def test_a_folder_that_may_not_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr(volumes.os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError):
        readable(tmp_path)
    with pytest.raises(StartError, match=r'volume "v": ".*": permission denied; check that it exists'):
        made(tmp_path, {"hostPath": {"path": str(tmp_path)}})


def test_a_claim_that_does_not_exist(tmp_path):
    with pytest.raises(ConfigError, match='volume "v": persistentvolumeclaim "c" not found; create it first'):
        made(tmp_path, {"persistentVolumeClaim": {"claimName": "c"}})


def test_what_is_there_is_kept(tmp_path):
    folder = made(tmp_path, {"emptyDir": {}})
    (folder / "x").touch()
    assert made(tmp_path, {"emptyDir": {}}) == folder
    assert (folder / "x").exists()


def test_a_volume_without_a_source_is_empty(tmp_path):
    assert list(made(tmp_path, {}).iterdir()) == []


def test_generated_files_replace_their_elders(tmp_path):
    found = Found(config_maps={"cm": {"kind": "ConfigMap", "data": {"a": "1"}}})
    for value in ("1", "2"):
        found.config_maps["cm"]["data"]["a"] = value
        folder = made(tmp_path, {"configMap": {"name": "cm", "defaultMode": 0o400}}, found)
        assert (folder / "a").read_text() == value
    assert [path.name for path in folder.iterdir() if not path.name.startswith("..")] == ["a"]


def test_memory_where_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(volumes, "MEMORY", tmp_path / "no")
    assert memory_folder(Place(tmp_path), "m") == tmp_path / "volumes" / "m"
