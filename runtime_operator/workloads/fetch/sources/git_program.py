"""Git itself, as a program: shut off from the person's settings, and from every prompt.

Name and password reach git through a helper that is a line of shell and reads two variables: they stand on
no command line, and git hands them to the host of the address alone, also after a redirect. Hooks, templates,
submodules and the settings of this machine have no part in a fetch. A connection on which nothing comes ends
after as long as any other source's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from ....errors import SetupError
from ..hidden import Secrets
from ..troubles import FetchError, Transient
from .git_address import GitAddress

_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" '
    '"$KFP_TRAINER_GIT_USER" "$KFP_TRAINER_GIT_PASSWORD"; }; f'
)
_PASSED = ("PATH", "LANG", "TMPDIR", "http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY")
_AUTHORITIES = ("GIT_SSL_CAINFO", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_NO_REVISION = re.compile(r"couldn't find remote ref|not our ref|unadvertised object|no such remote ref")
_DENIED = re.compile(r"could not read (Username|Password)|Authentication failed|returned error: 40[13]")
_ABSENT = re.compile(r"not found|does not appear to be a git repository|returned error: 404")
_CERTIFICATE = re.compile(r"certificate|SSL")
_NOT_ALLOWED = re.compile(r"transport '.*' not allowed|Protocol .* (not supported|disabled)")


class Git:
    """A bare repository of our own, and git working in it."""

    def __init__(
        self, address: GitAddress, folder: Path, secrets: Secrets, *, text: str, stall: float
    ) -> None:
        self._address = address
        self._folder = folder
        self._secrets = secrets
        self._text = text
        self._stall = stall

    def init(self) -> None:
        """Make the repository, empty."""
        if shutil.which("git") is None:
            raise SetupError(
                f"{self._text}: needs git, which is not on the PATH; install it, or give hf:// …"
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        ran = self._run("init", "-q", "--bare", "--template=", ".")
        if ran.returncode:
            raise self._trouble("init", ran.stderr)

    def ask(self, *arguments: str) -> bytes | None:
        """What a command on our own repository prints; None where it finds nothing."""
        ran = self._run(*arguments)
        return None if ran.returncode else ran.stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A command that goes on while its output is read."""
        return subprocess.Popen(
            ["git", *arguments],
            cwd=self._folder,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def fetch(self, *references: str, depth: int | None) -> None:
        """Fetch references of the address into FETCH_HEAD."""
        shallow = [f"--depth={depth}"] if depth else []
        options = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--force", *shallow]
        ran = self._run("fetch", *options, "--", self._address.url, *references)
        if ran.returncode:
            raise self._trouble("fetch", ran.stderr)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", *arguments], cwd=self._folder, env=self._environment(), capture_output=True
        )

    def _environment(self) -> dict[str, str]:
        settings = {
            "http.lowSpeedLimit": "1",
            "http.lowSpeedTime": str(max(1, round(self._stall))),
            "core.hooksPath": os.devnull,
            "gc.auto": "0",
            "safe.directory": "*",  # a shared volume may show our own folder as somebody else's
            "protocol.version": "2",
            **self._credential_settings(),
        }
        configured = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (name, setting) in enumerate(settings.items()):
            configured |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": setting}
        passed = {name: value for name in _PASSED if (value := self._secrets.get(name)) is not None}
        authorities = next((file for name in _AUTHORITIES if (file := self._secrets.get(name))), None)
        return {
            "PATH": os.defpath,
            **passed,
            **({"GIT_SSL_CAINFO": authorities} if authorities else {}),
            **configured,
            "HOME": str(self._folder),  # no .netrc
            "LC_ALL": "C",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "GIT_ALLOW_PROTOCOL": urlsplit(self._address.url).scheme,
            "GIT_LFS_SKIP_SMUDGE": "1",
            "KFP_TRAINER_GIT_USER": self._address.user,
            "KFP_TRAINER_GIT_PASSWORD": self._address.password,
        }

    def _credential_settings(self) -> dict[str, str]:
        if not self._address.password:
            return {}
        parts = urlsplit(self._address.url)
        return {f"credential.{parts.scheme}://{parts.netloc}.helper": _HELPER}

    def _trouble(self, command: str, stderr: bytes) -> FetchError | Transient:
        said = self._secrets.clean(stderr.decode("utf-8", "replace"))
        lines = [line.strip() for line in said.splitlines() if line.strip()] or ["it said nothing"]
        told = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
        why = told.removeprefix("fatal: ").removeprefix("error: ")
        if _NO_REVISION.search(said):
            return no_revision(self._address, self._text)
        if _DENIED.search(said):
            return FetchError(f"{self._text}: may not be read ({why}), give GIT_USERNAME and GIT_PASSWORD")
        if _ABSENT.search(said):
            return FetchError(f"{self._text}: is no repository ({why}), mind the spelling")
        if _CERTIFICATE.search(said):
            return FetchError(f"{self._text}: {why}, name the authority in SSL_CERT_FILE")
        if _NOT_ALLOWED.search(said):
            return FetchError(
                f"{self._text}: redirects to where it is not encrypted ({why}), give its new address"
            )
        return Transient(f"{self._text}: git {command} failed ({why})")


def no_revision(address: GitAddress, text: str) -> FetchError:
    """That what was asked for is not there."""
    revision = address.revision or "HEAD"
    return FetchError(f"{text}: has no revision {revision!r}, give a branch, a tag or a whole commit")
