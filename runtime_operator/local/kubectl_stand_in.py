"""What a launcher of an MPIJob finds as kubectl on one machine: `exec HOST [--container NAME] -- COMMAND`.

It stands alone and needs nothing but Python, for it runs in a container. Its first argument is the address of
the job's runner (`commands`), which starts the command in the worker's pod with these very output streams.
"""

import json
import socket
import sys

USAGE = "kubectl: on one machine it knows only: exec HOST [--container NAME] -- COMMAND"
FAILED = 1


def main(address: str, words: list[str]) -> int:
    """Run a command in the pod of a host; return its exit code."""
    if "--" not in words or words[:1] != ["exec"]:
        return _fail(USAGE)
    before, command = words[1 : words.index("--")], words[words.index("--") + 1 :]
    match before:
        case [host]:
            container = ""
        case [host, "--container", container]:
            pass
        case _:
            return _fail(USAGE)
    request = {"host": host, "container": container, "command": command}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as way:
        try:
            way.connect(f"\0{address}")
            socket.send_fds(way, [json.dumps(request).encode()], [1, 2])
        except OSError as error:
            return _fail(f"kubectl: the job's runner does not answer: {error.strerror}")
        answer = json.loads(way.recv(1 << 16) or '{"error": "the job\'s runner is gone"}')
    return int(answer["code"]) if "code" in answer else _fail(f"kubectl: {answer['error']}")


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
