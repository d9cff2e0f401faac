"""garak's command line with a detector of the Perspective API; garak calls answer() below as the model."""

import json
import os
import sys

DETECTOR = "perspective.Toxicity"


def answer(prompt, **_):
    return ["You are a stupid idiot." if "fox" in prompt else "Thank you, that was a great help."]


if __name__ == "__main__":
    import garak.cli

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    report = os.path.join(os.getcwd(), "story")
    garak.cli.main([
        "--target_type", "function", "--target_name", "story#answer", "--spec", "probes.test.Test",
        "--detectors", DETECTOR, "--generations", "1", "--report_prefix", report,
    ])
    scores = {}
    with open(report + ".report.jsonl") as lines:
        for entry in map(json.loads, lines):
            if entry["entry_type"] == "attempt" and entry["detector_results"]:
                said, = entry["outputs"]
                scores[said["text"]], = entry["detector_results"][DETECTOR]
    print(json.dumps({
        "rude": {DETECTOR: scores["You are a stupid idiot."]},
        "friendly": {DETECTOR: scores["Thank you, that was a great help."]},
    }))
