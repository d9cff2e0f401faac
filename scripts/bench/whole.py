"""Writes a model folder whose network is one file without exits, for those that run one file: Python pipelines and servers.

    python scripts/bench/whole.py --model models/toxicity-en --out build/bench/whole

The network is the same: its stages are joined.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "training"))  # this folder has files of the same names
import export
import folder as folders
import stages

FILE = "whole.ort"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, type=Path, help="folder of the embedded model")
    parser.add_argument("--out", required=True, type=Path)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((arguments.model / "manifest.json").read_text(encoding="utf-8"))
    variant = next(v for v in manifest["variants"] if v["provider"] == "cpu")
    with tempfile.TemporaryDirectory() as scratch:
        joined = Path(scratch) / "whole.onnx"
        onnx.save(stages.whole(arguments.model), joined)
        export.to_ort(joined, arguments.out / FILE)
    shutil.copyfile(arguments.model / manifest["tokenizer"], arguments.out / manifest["tokenizer"])
    manifest["variants"] = [{key: variant[key] for key in ("provider", "precision", "batching")} | {"file": FILE}]
    folders.write_manifest(arguments.out, manifest)


if __name__ == "__main__":
    main()
