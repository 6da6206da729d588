"""MinIO on loopback: a real S3 server with a folder for its data and keys of the test's own."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.servers.go_program import go_program
from tests.servers.ports import free_port

MODULE = Path(__file__).parent / "minio_program"
USER = "minio-canary-user"
PASSWORD = "minio-canary-password-0123"
_START_SECONDS = 120


class Minio:
    """A server for the length of a `with` block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Minio:
        program = go_program("minio", MODULE)
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder),
            "MINIO_ROOT_USER": USER,
            "MINIO_ROOT_PASSWORD": PASSWORD,
            "MINIO_BROWSER": "off",
            "CI": "true",
        }
        data = self._folder / "data"
        data.mkdir(parents=True)
        self._process = subprocess.Popen(
            [str(program), "server", str(data), "--address", f"127.0.0.1:{self.port}", "--quiet"],
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=60)

    @property
    def environ(self) -> dict[str, str]:
        """What reaches it, by Trainer's names."""
        return {"ENDPOINT": self.url, "ACCESS_KEY_ID": USER, "SECRET_ACCESS_KEY": PASSWORD}

    def client(self) -> Any:
        """A client of boto3."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=USER,
            aws_secret_access_key=PASSWORD,
            region_name="us-east-1",
        )

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                raise RuntimeError(f"MinIO ended with code {self._process.returncode}")
            with (
                suppress(OSError),
                urllib.request.urlopen(f"{self.url}/minio/health/ready", timeout=5) as answer,
            ):
                if answer.status == 200:
                    return
            time.sleep(0.2)
        raise RuntimeError("MinIO did not become ready")
