"""Puts the Go binary, ONNX Runtime's library and the licences of everything in them into the wheel.

GOOS and GOARCH choose another platform, with CC set to a C compiler for it.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.version import Version

ROOT = Path(__file__).parent
PROGRAM = ROOT / "build"  # the binary, the library, the licences, and built.json, which describes the binary


class Metadata(MetadataHookInterface):
    """Builds the binary: its version is the package's, and so are the licences of what is in it."""

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["version"] = str(Version(build()["version"]))  # 0.9.0-rc.1 is 0.9.0rc1 to Python
        licenses = [PROGRAM / "LICENSE", PROGRAM / "NOTICE", *sorted((PROGRAM / "licenses").rglob("*"))]
        metadata["license-files"] = [glob.escape(path.relative_to(ROOT).as_posix()) for path in licenses if path.is_file()]


class Wheel(BuildHookInterface[Any]):
    """Adds the binary, the library where the binary finds it, and the platform that they are for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            raise RuntimeError("toxscreen has no source distribution, since Go builds it from the whole repository: build a wheel from a clone")
        described = json.loads((PROGRAM / "built.json").read_text())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_of(described)}"
        binary = PROGRAM / ("toxscreen.exe" if described["os"] == "windows" else "toxscreen")
        library = {"linux": "libonnxruntime.so", "darwin": "libonnxruntime.dylib", "windows": "onnxruntime.dll"}[described["os"]]
        build_data["shared_scripts"][str(binary)] = binary.name
        build_data["force_include"][str(PROGRAM / library)] = f"toxscreen/lib/{library}"
        build_data["sbom_files"] = [str(path) for path in PROGRAM.glob("sbom.cdx.json")]  # only of a release


def build() -> dict[str, str]:
    """Returns what the program is, after scripts/release has built it. A release has built it already."""
    if "TOXSCREEN_STAGED" not in os.environ:
        shutil.rmtree(PROGRAM, ignore_errors=True)
        PROGRAM.mkdir(parents=True)
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder, "release.exe")
            # The program that builds runs here, whatever it builds for.
            here = {name: value for name, value in os.environ.items() if name not in ("GOOS", "GOARCH", "CC", "CXX")}
            subprocess.run(["go", "build", "-C", "scripts/release", "-o", tool, "."], cwd=ROOT.parent, env=here, check=True)
            made = subprocess.run([tool, "-stage", PROGRAM], cwd=ROOT.parent, check=True, stdout=subprocess.PIPE)
        (PROGRAM / "built.json").write_bytes(made.stdout)
    described: dict[str, str] = json.loads((PROGRAM / "built.json").read_text())
    return described


def platform_of(described: dict[str, str]) -> str:
    """Returns the platform tag of a binary and a library."""
    system, arch = described["os"], described["arch"]
    tags = {
        "linux": {"amd64": "x86_64", "arm64": "aarch64"},
        "darwin": {"arm64": "arm64"},
        "windows": {"amd64": "amd64", "arm64": "arm64"},
    }
    if arch not in tags.get(system, {}):
        raise ValueError(f"failed to name the wheel: {system}/{arch} has no ONNX Runtime")
    tag = tags[system][arch]
    if system == "linux":
        return f"manylinux_{described['glibc'].replace('.', '_')}_{tag}"
    if system == "darwin":
        return f"macosx_14_0_{tag}"  # the oldest macOS that the library supports
    return f"win_{tag}"
