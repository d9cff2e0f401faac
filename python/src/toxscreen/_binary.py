"""Where the toxscreen binary is."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

from toxscreen._results import ToxscreenError


def find_binary() -> Path:
    """Returns the path of the binary that this package installed, else of one on the PATH.

    Raises ToxscreenError if there is none.
    """
    name = "toxscreen" + (sysconfig.get_config_var("EXE") or "")
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))]
    package = Path(__file__).resolve().parent
    # `pip install --target FOLDER` puts the binary into FOLDER/bin, `--prefix` beside lib/python3.x/site-packages.
    folders += [str(folder / "bin") for folder in (package.parent, *package.parents[3:4])]
    for folder in folders:
        path = Path(folder, name)
        if path.is_file() and os.access(path, os.X_OK):
            return path
    import shutil  # only here: it takes long to import

    if on_path := shutil.which(name):
        return Path(on_path)
    raise ToxscreenError(
        f"failed to find the toxscreen binary: it is neither in {', '.join(dict.fromkeys(folders))} nor on the PATH; install the wheel again, or pass binary="
    )
