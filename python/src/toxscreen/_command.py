"""The command line of a toxscreen process."""

from __future__ import annotations

import os
from collections.abc import Mapping

from toxscreen._binary import find_binary

Path = str | os.PathLike[str]


Setting = Path | int | bool | Mapping[str, float] | None


def command(verb: str, settings: Mapping[str, Setting], binary: Path | None) -> list[str]:
    """Returns the command line for settings by the names of the arguments of Screener, or of their flags.

    None and False leave a setting as it is configured. The flag of a mapping is repeated, as --threshold insult=0.7 is.
    """
    line = [os.fspath(binary or find_binary()), verb]
    for name, value in settings.items():
        flag = "threshold" if name == "thresholds" else name.replace("_", "-")
        if value is True:
            line.append(f"--{flag}")
        elif isinstance(value, Mapping):
            line += [f"--{flag}={key}={each}" for key, each in value.items()]
        elif value is not None and value is not False:
            line.append(f"--{flag}={value if isinstance(value, int) else os.fspath(value)}")
    return line
