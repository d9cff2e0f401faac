"""What the wheel that `make wheel` built holds, and how it is called."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import zipfile
from email.parser import Parser
from pathlib import Path
from types import ModuleType

import pytest

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
    [path] = (ROOT / "dist").glob("toxscreen-*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.parametrize(
    ("go", "python"),
    [
        ("v1.2.3", "1.2.3"),
        ("v1.2.3+dirty", "1.2.3+dirty"),
        ("v1.2.0-rc.1", "1.2.0rc1"),
        ("v1.2.0-rc.1.0.20261126055312-ca496be79e9f", "1.2.0rc2.dev20261126055312+ca496be79e9f"),
        ("v0.0.0-20261126055312-ca496be79e9f", "0.0.0.dev20261126055312+ca496be79e9f"),
        ("v1.2.4-0.20261126055312-ca496be79e9f", "1.2.4.dev20261126055312+ca496be79e9f"),
        ("v1.2.4-0.20261126055312-ca496be79e9f+dirty", "1.2.4.dev20261126055312+ca496be79e9f.dirty"),
        ("(devel)", "0.0.0.dev0"),
    ],
)
def test_the_version_is_that_of_the_go_module(hatch_build: ModuleType, go: str, python: str) -> None:
    assert hatch_build.version_of(go) == python


def test_the_version_of_the_package_is_that_of_its_binary(hatch_build: ModuleType) -> None:
    printed = subprocess.run([find_binary(), "version", "--format", "json"], capture_output=True, check=True).stdout
    version = json.loads(printed)["toxscreen"]
    assert toxscreen.__version__ == hatch_build.version_of("(devel)" if version == "devel" else version)


def test_the_platform_is_that_of_the_binary(hatch_build: ModuleType) -> None:
    assert hatch_build.platform_of({"os": "linux", "arch": "arm64", "glibc": "2.34"}) == "manylinux_2_34_aarch64"
    assert hatch_build.platform_of({"os": "darwin", "arch": "arm64"}) == "macosx_12_0_arm64"
    assert hatch_build.platform_of({"os": "windows", "arch": "amd64"}) == "win_amd64"
    with pytest.raises(ValueError, match="plan9/amd64"):
        hatch_build.platform_of({"os": "plan9", "arch": "amd64"})


def test_the_wheel_has_the_licences_of_what_is_in_it(wheel: zipfile.ZipFile) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = Parser().parsestr(wheel.read(name).decode())
    licences = [licence.removeprefix("build/") for licence in metadata.get_all("License-File", [])]
    for licence in ("LICENSE", "NOTICE", "licenses/go/LICENSE", "licenses/models/toxicity-en/LICENSE", "licenses/github.com/yalue/onnxruntime_go/LICENSE"):
        assert licence in licences
        assert wheel.read(f"{name.removesuffix('METADATA')}licenses/build/{licence}")


def test_the_wheel_needs_the_oldest_library_that_works(wheel: zipfile.ZipFile) -> None:
    match = re.search(r'MinLibraryVersion = "([0-9.]+)"', (ROOT / "encoder" / "library.go").read_text())
    assert match is not None
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    assert f"Requires-Dist: onnxruntime>={match[1]}\n" in wheel.read(name).decode()


def test_the_wheel_is_for_one_platform_and_typed(wheel: zipfile.ZipFile) -> None:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL")]
    assert "Root-Is-Purelib: false\n" in wheel.read(name).decode()
    assert "toxscreen/py.typed" in wheel.namelist()
