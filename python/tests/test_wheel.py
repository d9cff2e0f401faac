"""What the wheel that `make wheel` built holds, and how it is called."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import subprocess
import zipfile
from email.parser import Parser
from pathlib import Path
from types import ModuleType

import pytest
from packaging.version import Version

import toxscreen
from toxscreen._binary import find_binary

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hatch_build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "python" / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel() -> zipfile.ZipFile:
    [path] = (ROOT / "build" / "wheel").glob("toxscreen-*.whl")
    return zipfile.ZipFile(path)


def test_the_version_of_the_package_is_that_of_its_binary() -> None:
    printed = subprocess.run([find_binary(), "version", "--format", "json"], capture_output=True, check=True).stdout
    version = json.loads(printed)["toxscreen"]
    assert toxscreen.__version__ == str(Version(version))


def test_the_platform_is_that_of_the_binary(hatch_build: ModuleType) -> None:
    assert hatch_build.platform_of({"os": "linux", "arch": "arm64", "glibc": "2.34"}) == "manylinux_2_34_aarch64"
    assert hatch_build.platform_of({"os": "darwin", "arch": "arm64"}) == "macosx_14_0_arm64"
    assert hatch_build.platform_of({"os": "windows", "arch": "amd64"}) == "win_amd64"
    with pytest.raises(ValueError, match="darwin/amd64 has no ONNX Runtime"):
        hatch_build.platform_of({"os": "darwin", "arch": "amd64"})


def test_the_wheel_has_the_licences_of_what_is_in_it(wheel: zipfile.ZipFile) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = Parser().parsestr(wheel.read(name).decode())
    licences = [licence.removeprefix("build/") for licence in metadata.get_all("License-File", [])]
    for licence in (
        "LICENSE",
        "NOTICE",
        "licenses/go/LICENSE",
        "licenses/models/toxicity-en/LICENSE",
        "licenses/github.com/yalue/onnxruntime_go/LICENSE",
        "licenses/onnxruntime/LICENSE",
        "licenses/onnxruntime/ThirdPartyNotices.txt",
    ):
        assert licence in licences
        assert wheel.read(f"{name.removesuffix('METADATA')}licenses/build/{licence}")


def test_the_wheel_has_the_library_and_needs_no_other_package(wheel: zipfile.ZipFile) -> None:
    sums = (ROOT / "scripts" / "get-onnxruntime" / "onnxruntime.sha256").read_text()
    match = re.search(r"^(\w+) cpu linux/amd64 pip \S+ libonnxruntime.so$", sums, re.MULTILINE)
    assert match is not None
    assert hashlib.sha256(wheel.read("toxscreen/lib/libonnxruntime.so")).hexdigest() == match[1]
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    needed = Parser().parsestr(wheel.read(name).decode()).get_all("Requires-Dist", [])
    assert [one for one in needed if "extra ==" not in one] == []


def test_the_wheel_is_for_one_platform_and_typed(wheel: zipfile.ZipFile) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL")]
    assert "Root-Is-Purelib: false\n" in wheel.read(name).decode()
    assert "toxscreen/py.typed" in wheel.namelist()
