"""Text that a container is given: expansion, rewriting, /etc/hosts, sentences of failures."""

import errno

import pytest

from kfp_trainer.runtime_operator.local.process.expansion import expand, unknown
from kfp_trainer.runtime_operator.local.process.failures import folder_failure, start_failure
from kfp_trainer.runtime_operator.local.process.hosts import hosts_text
from kfp_trainer.runtime_operator.local.process.rewriting import Rules

ENV = {"A": "1", "B": "two words", "EMPTY": "", "DOLLAR": "$(A)"}

# sentence: (text, expanded, names that are not known)
EXPANSIONS = {
    "nothing to expand": ("plain", "plain", ()),
    "a name": ("$(A)", "1", ()),
    "names in a text": ("x-$(A)-$(B)-y", "x-1-two words-y", ()),
    "an empty value": ("[$(EMPTY)]", "[]", ()),
    "an unknown name stays": ("$(NO) $(A)", "$(NO) 1", ("NO",)),
    "two dollars are one": ("$$(A) costs $$5", "$(A) costs $5", ()),
    "three dollars": ("$$$(A)", "$1", ()),
    "four dollars": ("$$$$(A)", "$$(A)", ()),
    "a shell's own variable stays": ("$A ${A}", "$A ${A}", ()),
    "an open bracket stays": ("$(A", "$(A", ()),
    "a dollar at the end": ("5$", "5$", ()),
    "a value is not expanded again": ("$(DOLLAR)", "$(A)", ()),
    "an empty name": ("$()", "$()", ("",)),
    "a dollar before a newline": ("$\n$(A)", "$\n1", ()),
    "a bracket inside": ("$($(A))", "$($(A))", ("$(A",)),
}


@pytest.mark.parametrize("sentence", EXPANSIONS)
def test_expansion(sentence):
    text, expanded, names = EXPANSIONS[sentence]
    assert expand(text, ENV) == expanded
    assert unknown(text, ENV) == names


RULES = Rules(
    paths={"/data": "/home/me/d", "/data/in": "/home/me/in"},
    names={
        "rank-0.job": "127.0.0.2",
        "rank-0.job.ns.svc": "127.0.0.2",
        "rank-0": "127.0.0.2",
        "keep": "keep",
    },
    ports={29500: 41234},
)

# sentence: (text, rewritten)
TEXTS = {
    "a path": ("/data", "/home/me/d"),
    "the head of a path": ("/data/x.txt", "/home/me/d/x.txt"),
    "the longest path wins": ("/data/in/x", "/home/me/in/x"),
    "an option": ("--out=/data", "--out=/home/me/d"),
    "a list": ("/data:/data/in", "/home/me/d:/home/me/in"),
    "in quotes": ('open("/data")', 'open("/home/me/d")'),
    "in a URL": ("file:///data/x", "file:///data/x"),
    "another folder": ("/database /data.old /data-1", "/database /data.old /data-1"),
    "a folder inside another": ("/my/data ./data", "/my/data ./data"),
    "a sentence's end": ("see /data, or /data;", "see /home/me/d, or /home/me/d;"),
    "a name": ("rank-0.job", "127.0.0.2"),
    "the longest name wins": ("rank-0.job.ns.svc", "127.0.0.2"),
    "a name with a port": ("rank-0.job:29500", "127.0.0.2:41234"),
    "a name with another port": ("rank-0.job:80", "127.0.0.2:80"),
    "a name in a URL": ("tcp://rank-0.job:29500/x", "tcp://127.0.0.2:41234/x"),
    "names in a list": ("rank-0,rank-0.job", "127.0.0.2,127.0.0.2"),
    "a longer name": ("xrank-0.job rank-0.jobs rank-01", "xrank-0.job rank-0.jobs rank-01"),
    "a name as a folder": ("/runs/rank-0.job", "/runs/rank-0.job"),
    "a name that resolves keeps its place": ("keep:29500", "keep:41234"),
    "a bare number": ("29500", "29500"),
}


@pytest.mark.parametrize("sentence", TEXTS)
def test_text_is_rewritten(sentence):
    text, rewritten = TEXTS[sentence]
    assert RULES.text(text) == rewritten
    assert RULES.content(text.encode()) == rewritten.encode()
    assert Rules().text(text) == text


def test_a_file_that_is_no_text_stays():
    assert RULES.content(b"/data \xff") == b"/data \xff"


# sentence: (name, value, rewritten)
VARIABLES = {
    "a port": ("MASTER_PORT", "29500", "41234"),
    "the port": ("PORT", "29500", "41234"),
    "another port": ("MASTER_PORT", "29501", "29501"),
    "no number": ("MASTER_PORT", "any", "any"),
    "a number that is no port": ("STEPS", "29500", "29500"),
    "an endpoint": ("PET_RDZV_ENDPOINT", "rank-0.job:29500", "127.0.0.2:41234"),
    "a word that ends in port": ("SUPPORT", "29500", "29500"),
}


@pytest.mark.parametrize("sentence", VARIABLES)
def test_variables_are_rewritten(sentence):
    name, value, rewritten = VARIABLES[sentence]
    assert RULES.env({name: value}) == {name: rewritten}


# sentence: (words, rewritten)
COMMANDS = {
    "an option with a port": (["x", "--master-port=29500"], ["x", "--master-port=41234"]),
    "an option and its port": (["x", "--master_port", "29500"], ["x", "--master_port", "41234"]),
    "a short option": (["sshd", "-p", "29500"], ["sshd", "-p", "41234"]),
    "another option": (
        ["x", "--steps=29500", "--support", "29500"],
        ["x", "--steps=29500", "--support", "29500"],
    ),
    "a path": (["cat", "/data/x"], ["cat", "/home/me/d/x"]),
    "a first word": (["29500"], ["29500"]),
}


@pytest.mark.parametrize("sentence", COMMANDS)
def test_commands_are_rewritten(sentence):
    words, rewritten = COMMANDS[sentence]
    assert RULES.words(words) == rewritten


def test_hosts():
    pod = {
        "metadata": {"name": "p"},
        "spec": {"hostname": "me", "hostAliases": [{"ip": "10.1.1.1", "hostnames": ["a", "b"]}]},
    }
    head = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"
    names = {"you": "127.0.0.3", "you.job": "127.0.0.3"}
    assert hosts_text(pod, pod_ip="127.0.0.2", names=names) == (
        head + "127.0.0.3\tyou you.job\n127.0.0.2\tme\n10.1.1.1\ta b\n"
    )
    assert (
        hosts_text({**pod, "spec": {}}, pod_ip="127.0.0.2", names={"p": "127.0.0.2"})
        == head + "127.0.0.2\tp\n"
    )


# sentence: (step, errno, command, text)
FAILURES = {
    "a full disk, at any step": (
        "exec",
        errno.ENOSPC,
        "x",
        "the disk is full; free some space or set KFP_TRAINER_HOME",
    ),
    "a working directory": (
        "chdir",
        errno.ENOENT,
        "x",
        'workingDir "/w": no such file or directory; give a folder that',
    ),
    "a mount": (
        "namespaces",
        errno.EACCES,
        "x",
        'mounting "/m": permission denied; check that the volume\'s folder',
    ),
    "the record": (
        "record",
        errno.EACCES,
        "x",
        "the container's folder cannot be written: permission denied; check",
    ),
    "a program in PATH": (
        "exec",
        errno.ENOENT,
        "x",
        'exec: "x": executable file not found in $PATH (/bin); install it',
    ),
    "a program by path": (
        "exec",
        errno.ENOENT,
        "/x",
        'exec: "/x": no such file, or its interpreter is missing; check',
    ),
    "not executable": ("exec", errno.EACCES, "x", 'exec: "x": permission denied; make it an executable file'),
    "no program": ("exec", errno.ENOEXEC, "x", 'exec: "x": exec format error; check command and image'),
}


@pytest.mark.parametrize("sentence", FAILURES)
def test_failures_are_one_sentence(sentence):
    step, number, command, text = FAILURES[sentence]
    told = start_failure(step, number, argv=[command], cwd="/w", env_path="/bin", about="/m")
    assert told.startswith(text)
    assert "\n" not in told


def test_folders_that_fail():
    assert folder_failure("volume", "/x", errno.ENOSPC).startswith('volume: "/x": the disk is full')
    assert folder_failure("volume", "/x", errno.EACCES) == (
        'volume: "/x": permission denied; check that it exists and that you may read it'
    )
