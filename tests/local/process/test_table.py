"""What a container sees and how its end is told: one table for every way to run a pod."""

import pytest

SH = ["sh", "-c"]
ENV = [
    {"name": "A", "value": "1"},
    {"name": "B", "value": "$(A)-$(LATER)-$$(A)"},
    {"name": "LATER", "value": "x"},
    {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
    {"name": "LR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "lr"}}},
    {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}},
    {"name": "NONE", "valueFrom": {"secretKeyRef": {"name": "no", "key": "k", "optional": True}}},
    {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
]
VOLUMES = [
    {"name": "data", "emptyDir": {}},
    {"name": "fast", "emptyDir": {"medium": "Memory"}},
    {"name": "settings", "configMap": {"name": "settings", "items": [{"key": "lr", "path": "deep/lr"}]}},
    {"name": "all", "configMap": {"name": "settings"}},
    {"name": "keys", "secret": {"secretName": "keys", "defaultMode": 0o400}},
    {"name": "work", "persistentVolumeClaim": {"claimName": "work"}},
    {
        "name": "mixed",
        "projected": {
            "sources": [
                {"serviceAccountToken": {"path": "token", "audience": "them", "expirationSeconds": 600}},
                {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
                {"secret": {"name": "keys", "items": [{"key": "token", "path": "other"}]}},
            ]
        },
    },
]


def mount(name, path, **more):
    return {"name": name, "mountPath": path, **more}


# sentence: (container, phase, exit code, reason, log); a log of None is not looked at
CASES = {
    "a command that succeeds": (
        {"command": [*SH, "echo one; echo two"]},
        "Succeeded",
        0,
        "Completed",
        "one\ntwo\n",
    ),
    "a command that fails": ({"command": [*SH, "exit 3"]}, "Failed", 3, "Error", ""),
    "args follow the command": (
        {"command": ["echo"], "args": ["$(WORD)", "$$(WORD)"], "env": [{"name": "WORD", "value": "hey"}]},
        "Succeeded",
        0,
        "Completed",
        "hey $(WORD)\n",
    ),
    "the environment of a kubelet": (
        {
            "command": [
                *SH,
                'echo "$B $POD $NODE $LABEL $LR $TOKEN ${NONE-unset} $CPUS $JOB_COMPLETION_INDEX $HOSTNAME"',
            ],
            "env": ENV,
            "resources": {"limits": {"cpu": "1500m"}},
        },
        "Succeeded",
        0,
        "Completed",
        "1-$(LATER)-$(A) peer-0-abcde here it 0.1 hidden unset 2 3 peer-0\n",
    ),
    "envFrom with a prefix": (
        {
            "command": [*SH, 'echo "$APP_lr $lr"'],
            "envFrom": [{"prefix": "APP_", "configMapRef": {"name": "settings"}}],
        },
        "Succeeded",
        0,
        "Completed",
        "0.1 \n",
    ),
    "a mount path that is not on this machine": (
        {
            "command": [*SH, "echo hi > /data/deep && cat /data/deep"],
            "volumeMounts": [mount("data", "/data")],
        },
        "Succeeded",
        0,
        "Completed",
        "hi\n",
    ),
    "a mount inside a mount": (
        {
            "command": [*SH, "echo a > /data/x; echo b > /data/in/y; cat /data/x /data/in/y; ls /data"],
            "volumeMounts": [mount("fast", "/data/in"), mount("data", "/data")],
        },
        "Succeeded",
        0,
        "Completed",
        None,
    ),
    "a mount in a folder of this machine": (
        {
            "command": [*SH, "cat /etc/nowhere/here/deep/lr"],
            "volumeMounts": [mount("settings", "/etc/nowhere/here")],
        },
        "Succeeded",
        0,
        "Completed",
        "0.1",
    ),
    "one file of a volume": (
        {
            "command": [*SH, "cat /opt/no/lr.txt"],
            "volumeMounts": [mount("all", "/opt/no/lr.txt", subPath="lr")],
        },
        "Succeeded",
        0,
        "Completed",
        "0.1",
    ),
    "a sub-path by name": (
        {
            "command": [*SH, "echo hi > /out/x; cat /parts/peer-0-abcde/x"],
            "env": [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "volumeMounts": [mount("work", "/parts"), mount("work", "/out", subPathExpr="$(POD)")],
        },
        "Succeeded",
        0,
        "Completed",
        "hi\n",
    ),
    "a secret with its mode": (
        {
            "command": [*SH, "stat -L -c %a /keys/token; cat /keys/token"],
            "volumeMounts": [mount("keys", "/keys")],
        },
        "Succeeded",
        0,
        "Completed",
        "400\nhidden",
    ),
    "a projected volume": (
        {
            "command": [*SH, "cat /var/run/no/token /var/run/no/n"],
            "volumeMounts": [mount("mixed", "/var/run/no")],
        },
        "Succeeded",
        0,
        "Completed",
        'token-1 for them of 600sapp="it"',
    ),
    "a host name of the job": (
        {"command": [*SH, "getent ahostsv4 peer-1.job | head -n 1 | cut -d' ' -f 1"]},
        "Succeeded",
        0,
        "Completed",
        "127.0.0.2\n",
    ),
    "last words in a file": (
        {"command": [*SH, "echo -n it broke > /dev/termination-log; exit 1"]},
        "Failed",
        1,
        "Error",
        "",
    ),
    "last words from the log": (
        {"command": [*SH, "echo boom >&2; exit 1"], "terminationMessagePolicy": "FallbackToLogsOnError"},
        "Failed",
        1,
        "Error",
        "boom\n",
    ),
    "killed by a signal": ({"command": [*SH, "kill -KILL $$$$"]}, "Failed", 137, "Error", ""),
    "ended by SIGTERM": ({"command": [*SH, "kill -TERM $$$$"]}, "Failed", 143, "Error", ""),
    "a working directory in a volume": (
        {
            "command": [*SH, "echo hi > here; cat /data/here"],
            "workingDir": "/data",
            "volumeMounts": [mount("data", "/data")],
        },
        "Succeeded",
        0,
        "Completed",
        "hi\n",
    ),
    "a program that is not there": ({"command": ["no-such-program"]}, "Failed", 128, "StartError", ""),
    "a path that is not there": ({"command": ["/no/such/program"]}, "Failed", 128, "StartError", ""),
    "a file that is no program": ({"command": ["/etc/passwd"]}, "Failed", 128, "StartError", ""),
    "a bad working directory": (
        {"command": ["true"], "workingDir": "/no/such/folder"},
        "Failed",
        128,
        "StartError",
        "",
    ),
    "no command at all": ({}, "Failed", 128, "StartError", ""),
    "a volume that is not there": (
        {"command": ["true"], "volumeMounts": [mount("other", "/other")]},
        "Failed",
        128,
        "StartError",
        "",
    ),
    "a sub-path that is not there": (
        {"command": ["true"], "volumeMounts": [mount("all", "/x", subPath="no")]},
        "Failed",
        128,
        "StartError",
        "",
    ),
    "a long line": (
        {"command": [*SH, "head -c 40000 /dev/zero | tr '\\0' x; echo"]},
        "Succeeded",
        0,
        "Completed",
        "x" * 40000 + "\n",
    ),
    "no newline at the end": ({"command": ["printf", "a\\nb"]}, "Succeeded", 0, "Completed", "a\nb\n"),
}

MESSAGES = {
    "last words in a file": "it broke",
    "last words from the log": "boom\n",
    "a program that is not there": 'exec: "no-such-program": executable file not found in $PATH',
    "a path that is not there": 'exec: "/no/such/program": no such file, or its interpreter is missing',
    "a file that is no program": 'exec: "/etc/passwd": permission denied; make it an executable file',
    "a bad working directory": 'workingDir "/no/such/folder": no such file or directory; give a folder',
    "no command at all": 'spec.containers[0]: no command, and image "any" has none here',
    "a volume that is not there": 'spec.containers[0].volumeMounts[0].name: no volume "other"',
    "a sub-path that is not there": 'mount "/x": no such path in its volume',
}


@pytest.mark.parametrize("sentence", CASES)
async def test_container(sentence, bed, pod_of):
    container, phase, code, reason, log = CASES[sentence]
    pod = pod_of(spec={"volumes": VOLUMES}, **{"command": [], **container})
    living = bed.start(pod, hosts={"peer-0": "127.0.0.1", "peer-1.job": "127.0.0.2"})
    assert await bed.end(living) == phase
    ended = living.status()["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (code, reason), ended
    if log is not None:
        assert bed.log() == (log if log.endswith("\n") or not log else log + "\n")
    if sentence in MESSAGES:
        where = 'container "main": ' if reason == "StartError" else ""
        assert ended["message"].startswith(where + MESSAGES[sentence]), ended["message"]
    else:
        assert "message" not in ended
