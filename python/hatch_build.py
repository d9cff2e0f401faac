"""Puts the Go binary and the licences of everything in it into the wheel.

GOOS and GOARCH choose another platform, with CC set to a C compiler for it.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).parent
PROGRAM = ROOT / "build"  # the binary, the licences, and built.json, which describes the binary


class Metadata(MetadataHookInterface):
    """Builds the binary: its version is the package's, and so are the licences of what is in it."""

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["version"] = version_of(build()["version"])
        licenses = [PROGRAM / "LICENSE", PROGRAM / "NOTICE", *sorted((PROGRAM / "licenses").rglob("*"))]
        metadata["license-files"] = [glob.escape(path.relative_to(ROOT).as_posix()) for path in licenses if path.is_file()]


class Wheel(BuildHookInterface[Any]):
    """Adds the binary and the platform that it is for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            raise RuntimeError("toxscreen has no source distribution, since Go builds it from the whole repository: build a wheel from a clone")
        described = json.loads((PROGRAM / "built.json").read_text())
        binary = PROGRAM / ("toxscreen.exe" if described["os"] == "windows" else "toxscreen")
        build_data["shared_scripts"][str(binary)] = binary.name
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_of(described)}"


def build() -> dict[str, str]:
    """Builds the binary with the program that makes the archive. Returns what it is."""
    shutil.rmtree(PROGRAM, ignore_errors=True)
    PROGRAM.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder, "dist.exe")
        # The program that builds runs here, whatever it builds for.
        here = {name: value for name, value in os.environ.items() if name not in ("GOOS", "GOARCH", "CC", "CXX")}
        subprocess.run(["go", "build", "-o", tool, "./scripts/dist"], cwd=ROOT.parent, env=here, check=True)
        made = subprocess.run([tool, "-wheel", PROGRAM], cwd=ROOT.parent, env=os.environ | {"CGO_ENABLED": "1"}, check=True, stdout=subprocess.PIPE)
    (PROGRAM / "built.json").write_bytes(made.stdout)
    described: dict[str, str] = json.loads(made.stdout)
    return described


def version_of(go: str) -> str:
    """Returns a version of Go's as one of Python's (PEP 440): v1.2.3 is 1.2.3.

    A commit without a tag is a release in development with the day and the commit: v0.0.0-20261126055312-ca496be79e9f is
    0.0.0.dev20261126055312+ca496be79e9f. Outside of a clone there is no version.
    """
    if go == "(devel)":
        return "0.0.0.dev0"
    match = re.fullmatch(r"v(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+))?(?:[-.](?:0\.)?(\d{14})-([0-9a-f]{12}))?(\+dirty)?", go)
    if match is None:
        raise ValueError(f"failed to derive the package's version: {go} is not a version of a Go module")
    release, stage, number, time, commit, dirty = match.groups()
    if stage and time:
        number = str(int(number) + 1)  # a commit after rc.1 is on the way to rc.2
    before = {None: "", "alpha": "a", "beta": "b", "rc": "rc"}[stage] + (number or "")
    local = ".".join(filter(None, [commit, dirty and "dirty"]))
    return release + before + (f".dev{time}" if time else "") + (f"+{local}" if local else "")


def platform_of(described: dict[str, str]) -> str:
    """Returns the platform tag of a binary."""
    system, arch = described["os"], described["arch"]
    tags = {
        "linux": {"amd64": "x86_64", "arm64": "aarch64"},
        "darwin": {"amd64": "x86_64", "arm64": "arm64"},
        "windows": {"amd64": "amd64", "arm64": "arm64"},
    }
    if arch not in tags.get(system, {}):
        raise ValueError(f"failed to name the wheel: {system}/{arch} has no onnxruntime package")
    tag = tags[system][arch]
    if system == "linux":
        return f"manylinux_{described['glibc'].replace('.', '_')}_{tag}"
    if system == "darwin":
        return f"macosx_12_0_{tag}"  # the oldest macOS that Go supports
    return f"win_{tag}"
