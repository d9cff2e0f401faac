"""docs/python.md works as it is written, in an environment of its own without Go."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", (ROOT / "docs" / "python.md").read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the packages of this one, so that nothing is downloaded, but without toxscreen."""
    folder = tmp_path_factory.mktemp("guide") / "venv"
    venv.create(folder)
    packages = next(folder.glob("lib/*/site-packages"))
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.startswith("toxscreen"):
            (packages / package.name).symlink_to(package)
    pip = folder / "bin" / "pip"
    pip.write_text(f"#!{folder}/bin/python\nfrom pip._internal.cli.main import main\nraise SystemExit(main())\n")
    pip.chmod(0o755)
    return folder


def run(environment: Path, language: str, code: str) -> str:
    """Runs a block with no other programs than those of the environment, and with the wheel of `make wheel`."""
    code = re.sub(r"\./toxscreen-\S+\.whl", "build/wheel/toxscreen-*.whl", code)
    command = ["/bin/sh", "-ec", code] if language == "sh" else [str(environment / "bin" / "python"), "-c", code]
    variables = {"PATH": str(environment / "bin"), "HOME": str(environment)}
    ran = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_every_block_works_as_written(environment: Path) -> None:
    assert shutil.which("go", path=str(environment / "bin")) is None
    printed = [run(environment, language, code) for language, code in BLOCKS]
    assert len(printed) == 15
    install, score, many, settings, stream, in_loop, column, pandas, polars, offsets, error, pool, perspective, refused, detoxify = printed
    assert "flagged" in install
    assert score.startswith("<Result score=0.")
    assert "insult" in score
    assert [line.split(" ", 1)[1] for line in many.splitlines()] == ["True You are a stupid idiot.", "False Thank you!"]
    assert "EMAIL_ADDRESS" in settings
    assert stream.splitlines()[0].startswith("7 0.")
    assert stream.splitlines()[1] == "9 was not scored: the text is missing"
    assert in_loop.splitlines()[1:] == ["Thank you! False", "You idiot. True"]
    assert column.splitlines()[1] == "None the text is missing"
    assert "comment" in pandas
    assert "comment" in polars
    assert offsets.splitlines() == ["code_point [(12, 24)]", "byte [(15, 27)]", "utf16 [(13, 25)]"]
    assert "insul" in error
    assert pool.startswith("[0.")
    assert float(perspective) > 0.5
    assert refused.startswith("400 ")
    assert "obscene" in detoxify
    assert "sexual_explicit" in detoxify
