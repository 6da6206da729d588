"""The ground one plane stands on: its folder, its ports, its certificates, its processes, its kubeconfigs.

Everything a plane writes lies in its folder; every port is a free one on loopback and stays the same when a
part is started again.
"""

import base64
import json
import random
import shutil
import socket
import ssl
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .accounts import USERS
from .certificates import Authority, Pair, signing_key
from .client import Client, eventually
from .processes import Process

HOST = "127.0.0.1"
PORTS = 10_000, 32_000
"""below those of outgoing connections, of which one could take a port whose program is being started again"""
ROOT = Path(__file__).resolve().parents[3]
ADMIN = "control-plane-admin"


class Site:
    """A folder with all that the parts of one plane share."""

    def __init__(self, folder: Path, programs: dict[str, Path], namespaces: Iterable[str]) -> None:
        self.folder = folder
        self.programs = programs
        self.processes: dict[str, Process] = {}
        self._ports: dict[str, int] = {}
        self._authority = Authority()
        folder.mkdir(parents=True)
        self.pki = folder / "pki"
        self.pki.mkdir()
        (self.pki / "ca.crt").write_bytes(self._authority.certificate)
        (self.pki / "service-accounts.key").write_bytes(signing_key())
        self._serving = self.serving_pair(*namespaces)
        self._serving.write(self.pki, certificate="server.crt", key="server.key")
        self.kubeconfig = self.write_kubeconfig("admin", self._authority.client(ADMIN, "system:masters"))
        self._kubeconfigs = {
            name: self.write_kubeconfig(name, self._authority.client(*who)) for name, who in USERS.items()
        }
        self.flags: dict[str, list[str]] = {}
        """what a test adds to the command line of a program, by name"""
        self.settings: dict[str, dict[str, Any]] = {}
        """what a test changes in the configuration file of a manager, by name"""

    def port(self, name: str) -> int:
        """The port of this name: a free one, chosen when it is first asked for."""
        while name not in self._ports:
            number = random.randrange(*PORTS)
            with socket.socket() as probe, suppress(OSError):
                probe.bind((HOST, number))
                if number not in self._ports.values():
                    self._ports[name] = number
        return self._ports[name]

    def address(self, name: str) -> str:
        """The port of this name with its host."""
        return f"{HOST}:{self.port(name)}"

    def listens(self, name: str) -> bool:
        """Whether something listens on the port of this name."""
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self.port(name))) == 0

    def run(self, name: str, program: str, arguments: Iterable[object]) -> Process:
        """Start a program of the control plane."""
        return self.run_command(name, [self.programs[program], *arguments, *self.flags.get(name, ())])

    def run_module(
        self, name: str, module: str, arguments: Iterable[object], *, inside: Iterable[str] = ()
    ) -> Process:
        """Start a Python module of this repository, inside what another command makes for it."""
        return self.run_command(name, [*inside, sys.executable, "-m", module, *arguments])

    def run_command(self, name: str, command: Iterable[object]) -> Process:
        """Start a command, with a folder of its own in which controller-runtime finds its serving pair."""
        own = self.folder / name
        for server in ("k8s-webhook-server", "k8s-metrics-server"):
            self.write_serving_pair(own / server / "serving-certs")
        env = {
            "TMPDIR": str(own),
            "HOME": str(own),
            "KUBECONFIG": str(self.kubeconfig_of(name)),
            "PYTHONPATH": str(ROOT),
        }
        process = Process(
            name, list(command), log=self.folder / f"{name}.log", pid_file=self.pid_file(name), env=env
        )
        self.processes[name] = process
        process.start()
        return process

    def kubeconfig_of(self, name: str) -> Path:
        """With what a program goes to the API server."""
        return self._kubeconfigs.get(name, self.kubeconfig)

    def become(self, name: str, user: str, *groups: str) -> None:
        """Let a program go to the API server as this user, by a certificate."""
        self._kubeconfigs[name] = self.write_kubeconfig(name, self._authority.client(user, *groups))

    def act_as(self, name: str, token: str) -> None:
        """Let a program go to the API server with this token."""
        self._kubeconfigs[name] = self.write_kubeconfig(name, token)

    def pid_file(self, name: str) -> Path:
        """Where the process id of a program stands while it runs."""
        return self.folder / f"{name}.pid"

    def serving_pair(self, *namespaces: str) -> Pair:
        """A pair for a server behind a Service of these namespaces."""
        return self._authority.server(namespaces)

    def write_serving_pair(self, folder: Path) -> None:
        """Write the pair with which every server of the plane serves."""
        self._serving.write(folder)

    def write(self, name: str, content: object) -> Path:
        """Write a file in JSON, which every part reads as YAML."""
        path = self.folder / name
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")
        return path

    @property
    def ca_bundle(self) -> str:
        """What clients and the API server trust, as it stands in kubeconfigs and webhooks."""
        return base64.b64encode(self._authority.certificate).decode()

    def write_kubeconfig(self, name: str, identity: Pair | str, *, port: int = 0) -> Path:
        """A kubeconfig for a client with a certificate or a token; at another port something lies between."""
        if isinstance(identity, str):
            user: dict[str, str] = {"token": identity}
        else:
            user = {
                "client-certificate-data": base64.b64encode(identity.certificate).decode(),
                "client-key-data": base64.b64encode(identity.key).decode(),
            }
            identity.write(self.pki, certificate=f"{name}.crt", key=f"{name}.key")
        cluster = {
            "server": f"https://{HOST}:{port or self.port('api')}",
            "certificate-authority-data": self.ca_bundle,
        }
        context = {"cluster": "plane", "user": name}
        return self.write(
            f"{name}.kubeconfig",
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": name,
                "clusters": [{"name": "plane", "cluster": cluster}],
                "users": [{"name": name, "user": user}],
                "contexts": [{"name": name, "context": context}],
            },
        )

    def admin(self) -> Client:
        """A client that may do everything."""
        tls = self.trust()
        tls.load_cert_chain(self.pki / "admin.crt", self.pki / "admin.key")
        return Client(HOST, self.port("api"), tls)

    def bearer(self, token: str) -> Client:
        """A client that shows a token."""
        return Client(HOST, self.port("api"), self.trust(), token)

    def trust(self) -> ssl.SSLContext:
        """Trust in this plane's servers and in no others."""
        return ssl.create_default_context(cadata=self._authority.certificate.decode())

    def clear(self, keep_logs_in: Path) -> None:
        """End every process and remove the folder; the logs are kept elsewhere."""
        for process in reversed(self.processes.values()):
            process.kill()
        shutil.rmtree(keep_logs_in, ignore_errors=True)
        keep_logs_in.mkdir(parents=True, exist_ok=True)  # another plane may end at the same time
        for log in self.folder.glob("*.log"):
            shutil.move(log, keep_logs_in / log.name)
        eventually("nobody writes any more", lambda: _is_removed(self.folder))


def _is_removed(folder: Path) -> bool:
    """Whether a folder is gone after another try; the last processes of a node may still be ending."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
