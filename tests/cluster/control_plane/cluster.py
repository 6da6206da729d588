"""What a test asks of a cluster, whether this run has started it or it was there before."""

from collections.abc import Iterable
from pathlib import Path

from .client import Client, collection

TOKEN_SECONDS = 24 * 3600
DISPOSABLE = "kfp-trainer-disposable"
"""the ConfigMap in kube-system that marks a cluster which tests may spoil; `parts` says what it carries"""


class Cluster:
    """An API server, an administrator's client of it, and clients for any ServiceAccount."""

    def __init__(self, client: Client, kubeconfig: Path) -> None:
        self.client = client
        self.kubeconfig = kubeconfig
        self._clients = [client]

    def why_not(self, name: str) -> str:
        """Why it cannot carry a part; empty if it can."""
        raise NotImplementedError

    def need(self, *names: str) -> None:
        """See to it that the parts of these names run."""
        raise NotImplementedError

    def bearer(self, token: str) -> Client:
        """A client that shows a token."""
        raise NotImplementedError

    def write_kubeconfig(self, name: str, token: str, *, port: int = 0) -> Path:
        """A kubeconfig with a token; at another port something lies between."""
        raise NotImplementedError

    def token(self, namespace: str, account: str) -> str:
        """A token of a ServiceAccount, good for a day."""
        path = f"{collection('v1', 'ServiceAccount', namespace)}/{account}/token"
        spec = {"expirationSeconds": TOKEN_SECONDS}
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        return str(self.client.post(path, request)["status"]["token"])

    def client_of(self, namespace: str, account: str) -> Client:
        """A client that may do what a ServiceAccount may do."""
        client = self.bearer(self.token(namespace, account))
        self._clients.append(client)
        return client

    def kubeconfig_of(self, namespace: str, account: str, *, port: int = 0) -> Path:
        """A kubeconfig with which a program acts as a ServiceAccount, perhaps through a proxy at a port."""
        return self.write_kubeconfig(f"{namespace}.{account}", self.token(namespace, account), port=port)

    def mark(self, parts: Iterable[str]) -> None:
        """Say that tests may spoil it, and what it carries."""
        head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": DISPOSABLE}}
        self.client.apply({**head, "data": {"parts": ",".join(parts)}}, "kube-system")

    def close(self) -> None:
        """Close all connections to it."""
        for client in self._clients:
            client.close()
