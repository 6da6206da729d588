"""Why a container could not start, in one sentence: what, where, what to do.

The launcher tells a step and the number of an error; a person needs to know which of his words was wrong.
"""

from __future__ import annotations

import errno
import os

from ...errors import KfpTrainerError


class ConfigError(KfpTrainerError):
    """A pod names something that does not exist (yet): the container waits for it."""


class StartError(KfpTrainerError):
    """A container cannot be started as it is; trying again changes nothing by itself."""


NO_SPACE = "the disk is full; free some space or set KFP_TRAINER_HOME to another disk"


def start_failure(step: str, number: int, *, argv: list[str], cwd: str, env_path: str, about: str) -> str:
    """Put a failed step of the launcher into words."""
    if number == errno.ENOSPC:
        return NO_SPACE
    why = os.strerror(number).lower()
    if step == "chdir":
        return f'workingDir "{cwd}": {why}; give a folder that exists and can be entered'
    if step == "namespaces":
        return f'mounting "{about}": {why}; check that the volume\'s folder exists and can be read'
    if step == "identity":
        return f"the user of its security context: {why}; check that this machine allows user namespaces"
    if step == "record":
        return f"the container's folder cannot be written: {why}; check KFP_TRAINER_HOME"
    return _exec_failure(number, why, argv[0], env_path)


def _exec_failure(number: int, why: str, command: str, env_path: str) -> str:
    if number == errno.ENOENT and "/" not in command:
        where = f"executable file not found in $PATH ({env_path})"
        return f'exec: "{command}": {where}; install it or give its full path'
    if number == errno.ENOENT:
        return f'exec: "{command}": no such file, or its interpreter is missing; check command and image'
    if number == errno.EACCES:
        return f'exec: "{command}": permission denied; make it an executable file'
    return f'exec: "{command}": {why}; check command and image'


def folder_failure(what: str, path: str, number: int) -> str:
    """Put a folder that cannot be used into words."""
    if number == errno.ENOSPC:
        return f'{what}: "{path}": {NO_SPACE}'
    return f'{what}: "{path}": {os.strerror(number).lower()}; check that it exists and that you may read it'
