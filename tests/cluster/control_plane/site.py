"""The ground one plane stands on: its folder, its ports, its certificates, its processes, its kubeconfigs.

Everything a plane writes lies in its folder; every port is a free one on loopback and stays the same when a
part is started again.
"""

import base64
import json
import shutil
import socket
import ssl
import sys
from collections.abc import Iterable
from pathlib import Path

from .certificates import Authority, Pair, signing_key
from .client import Client
from .processes import Process

HOST = "127.0.0.1"
ROOT = Path(__file__).resolve().parents[3]
ADMIN = "control-plane-admin"


class Site:
    """A folder with all that the parts of one plane share."""

    def __init__(self, folder: Path, programs: dict[str, Path]) -> None:
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
        self._serving = self._authority.server()
        self._serving.write(self.pki, certificate="server.crt", key="server.key")
        self.kubeconfig = self.write_kubeconfig("admin", self._authority.client(ADMIN, "system:masters"))

    def port(self, name: str) -> int:
        """The port of this name: a free one, chosen when it is first asked for."""
        if name not in self._ports:
            with socket.socket() as probe:
                probe.bind((HOST, 0))
                self._ports[name] = probe.getsockname()[1]
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
        return self.run_command(name, [self.programs[program], *arguments])

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
            "KUBECONFIG": str(self.kubeconfig),
            "PYTHONPATH": str(ROOT),
        }
        process = Process(name, list(command), log=self.folder / f"{name}.log", env=env)
        self.processes[name] = process
        process.start()
        return process

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

    def write_kubeconfig(self, name: str, identity: Pair | str) -> Path:
        """A kubeconfig for a client with a certificate or a token."""
        if isinstance(identity, str):
            user: dict[str, str] = {"token": identity}
        else:
            user = {
                "client-certificate-data": base64.b64encode(identity.certificate).decode(),
                "client-key-data": base64.b64encode(identity.key).decode(),
            }
            identity.write(self.pki, certificate=f"{name}.crt", key=f"{name}.key")
        cluster = {"server": f"https://{self.address('api')}", "certificate-authority-data": self.ca_bundle}
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
        keep_logs_in.mkdir(parents=True)
        for log in self.folder.glob("*.log"):
            shutil.move(log, keep_logs_in / log.name)
        shutil.rmtree(self.folder)
