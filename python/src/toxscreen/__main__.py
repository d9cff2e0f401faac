"""`python -m toxscreen` is the toxscreen command."""

import os
import subprocess
import sys

from toxscreen._binary import find_binary
from toxscreen._results import ToxscreenError


def main() -> int:
    try:
        binary = os.fspath(find_binary())
    except ToxscreenError as error:
        print(f"toxscreen: {error}", file=sys.stderr)
        return 1
    if sys.platform == "win32":  # there exec returns to the shell at once
        return subprocess.call([binary, *sys.argv[1:]])
    os.execv(binary, [binary, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
