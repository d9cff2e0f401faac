"""What toxscreen.perspective answers is what Google's client gets from `toxscreen serve`."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from googleapiclient import discovery, errors  # type: ignore[import-untyped]

from toxscreen import ToxscreenError, perspective
from toxscreen._command import command
from toxscreen._server import Answer, Server

STORIES = Path(__file__).resolve().parents[2] / "scripts" / "clients" / "python"

RUDE = "You are a stupid idiot. Have a nice day."
ATTRIBUTES = ("TOXICITY", "SEVERE_TOXICITY", "IDENTITY_ATTACK", "INSULT", "PROFANITY", "THREAT", "SEXUALLY_EXPLICIT")
FINNISH = "Tänään on todella kaunis ilma ja lähdemme kävelylle puistoon."


def comment(text: object, **fields: object) -> dict[str, object]:
    return {"comment": {"text": text}, "requestedAttributes": {"TOXICITY": {}}, **fields}


ANSWERED = {
    "one attribute": comment(RUDE),
    "all attributes": comment(RUDE, requestedAttributes={name: {} for name in ATTRIBUTES}),
    "sentences": comment(RUDE, spanAnnotations=True),
    "offsets in UTF-16": comment("😀 ü. You idiot.", spanAnnotations=True),
    "a half of a surrogate pair": comment("you \ud83d idiot"),
    "a threshold": comment("Thank you.", requestedAttributes={"TOXICITY": {"scoreThreshold": 0.5}}),
    "a model of Google's": comment(RUDE, requestedAttributes={"TOXICITY@6": {}, "INSULT_EXPERIMENTAL": {}}),
    "an attribute that is not measured": comment(RUDE, requestedAttributes={"TOXICITY": {}, "FLIRTATION": {}}),
    "a language": comment(FINNISH, languages=["en"]),
    "German": comment("Du bist so ein dummes Arschloch.", languages=["de"]),
    "a language that is found": comment("Я не знаю, что ты хочешь этим сказать, говори яснее."),
    "several languages": comment("Hoy hace buen tiempo y vamos al parque.", languages=["en", "es"]),
    "no language that is supported": comment(FINNISH, dropUnsupportedAttributes=True),
    "a token, and not to be stored": comment(RUDE, clientToken="c1", sessionId="s", communityId="forum", doNotStore=True),
    "a context": comment(RUDE, context={"entries": [{"text": "Hello"}]}),
}

REFUSED = {
    "an empty text": comment(""),
    "another language": comment(FINNISH),
    "another language, as the request says": comment("Hyvää päivää", languages=["fi"]),
    "an unknown attribute": comment(RUDE, requestedAttributes={"TOXICTY": {}}),
    "only attributes that are not measured": comment(RUDE, requestedAttributes={"FLIRTATION": {}}),
    "no attributes": {"comment": {"text": RUDE}},
    "a text that is not one": comment(5),
    "a threshold that is not a number": comment(RUDE, requestedAttributes={"TOXICITY": {"scoreThreshold": "high"}}),
    "a text that is too long": comment("x" * (1 << 20) + "x"),
    "a body that is not an object": [RUDE],
    "no body": None,
}


@pytest.fixture(scope="module")
def google(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Google's client of a server, which stores feedback."""
    feedback = tmp_path_factory.mktemp("google") / "feedback.db"
    line = [*command("serve", {"no-judge": True, "feedback": feedback}, None), "--listen=127.0.0.1:0", "--log-level=error"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        yield discovery.build(
            "commentanalyzer", "v1alpha1", developerKey="any", discoveryServiceUrl=f"{address}/$discovery/rest?version=v1alpha1", static_discovery=False
        )
        server.kill()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[perspective.Client]:
    with perspective.Client(no_judge=True, feedback=tmp_path_factory.mktemp("own") / "feedback.db") as client:
        yield client


@pytest.mark.parametrize("body", ANSWERED.values(), ids=ANSWERED)
def test_answers_are_those_of_googles_client(body: object, client: perspective.Client, google: Any) -> None:
    assert client.comments().analyze(body=body).execute() == google.comments().analyze(body=body).execute()


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_errors_are_those_of_googles_client(body: object, client: perspective.Client, google: Any) -> None:
    assert_same(refused(client.comments().analyze(body=body)), refused(google.comments().analyze(body=body)))


def test_a_batch_passes_on_what_googles_client_passes_on(client: perspective.Client, google: Any) -> None:
    """Each call fails or succeeds on its own, under its own id, and its own callback comes first."""

    def executed(service: Any) -> list[tuple[str, str, Any, Any]]:
        seen: list[tuple[str, str, Any, Any]] = []
        batch = service.new_batch_http_request(callback=lambda *answer: seen.append(("all", *answer)))
        batch.add(service.comments().analyze(body=comment(RUDE)), request_id="a rüde one\n😀")
        batch.add(service.comments().analyze(body=comment(FINNISH)))
        batch.add(service.comments().analyze(body=comment("Thank you 😀")), callback=lambda *answer: seen.append(("own", *answer)))
        batch.add(service.comments().suggestscore(body=suggestion("in a batch")))
        batch.add(service.comments().analyze(body=None), request_id="nothing")
        with pytest.raises(KeyError, match="A request with this ID already exists: nothing"):
            batch.add(service.comments().analyze(body=comment(RUDE)), request_id="nothing")
        batch.execute()
        return seen

    own, theirs = executed(client), executed(google)
    assert [(who, request_id, answer) for who, request_id, answer, _ in own] == [(who, request_id, answer) for who, request_id, answer, _ in theirs]
    assert [who for who, *_ in own] == ["all", "all", "own", "all", "all", "all"]
    for (*_, error), (*_, expected) in zip(own, theirs, strict=True):
        assert_same(error, expected)


def test_a_batch_that_is_refused_as_a_whole_is_an_error(client: perspective.Client) -> None:
    batch = client.new_batch_http_request()
    batch.execute()  # An empty batch is not sent.
    for _ in range(1001):
        batch.add(client.comments().analyze(body=comment("a")))
    with pytest.raises(perspective.HttpError, match="more than 1000 calls"):
        batch.execute()


def test_suggestions_are_kept_for_calibration(client: perspective.Client, google: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a setting they are where `toxscreen feedback` looks for them."""
    assert client.comments().suggestscore(body=suggestion("c7")).execute() == google.comments().suggestscore(body=suggestion("c7")).execute()
    nothing = {"comment": {"text": RUDE}, "attributeScores": {}}
    assert_same(refused(client.comments().suggestscore(body=nothing)), refused(google.comments().suggestscore(body=nothing)))

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with perspective.build("commentanalyzer", "v1alpha1") as default:
        default.comments().analyze(body=comment(RUDE)).execute()
        assert not list(tmp_path.rglob("*.db")), "a program that only analyzes gets a file"
        default.comments().suggestscore(body=suggestion("c8")).execute()
        batch = default.new_batch_http_request()
        batch.add(default.comments().analyze(body=comment("Thank you.")))
        batch.add(default.comments().suggestscore(body={**suggestion("c9"), "comment": {"text": "Thank you."}}))
        batch.execute()
    exported = subprocess.run([*command("feedback", {}, None), "export", "-o", "-"], capture_output=True, text=True, check=True)
    assert [json.loads(line)["input"]["labels"] for line in exported.stdout.splitlines()] == [{"toxicity": 1}] * 2


def test_existing_except_clauses_still_work(client: perspective.Client) -> None:
    with pytest.raises(errors.HttpError) as caught:
        client.comments().analyze(body=comment(FINNISH)).execute()
    assert isinstance(caught.value, perspective.HttpError)
    assert isinstance(caught.value, ToxscreenError)
    assert caught.value.error_details[0]["errorType"] == "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"


def test_errors_cross_processes(client: perspective.Client) -> None:
    error = refused(client.comments().analyze(body=comment("")))
    assert_same(pickle.loads(pickle.dumps(error)), error)


def test_googles_library_is_not_needed() -> None:
    """Nor is anything left open at the end, of which Python would warn."""
    program = """
import sys
sys.modules["googleapiclient"] = sys.modules["httplib2"] = None  # importing them fails
from toxscreen import perspective
try:
    perspective.build("commentanalyzer", "v1alpha1").comments().analyze(body={"comment": {"text": ""}}).execute()
except perspective.HttpError as error:
    print(type(error).__mro__[1].__name__, error.status_code, error._get_reason())
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("ToxscreenError 400 Comment must be non-empty.\n", "")


def test_a_program_changes_only_its_import(tmp_path: Path) -> None:
    """The program is the story of Google's client in `make test-clients`. No server runs at its address."""
    story = (STORIES / "perspective.py").read_text()
    changed = story.replace("from googleapiclient.discovery import build\n", "from toxscreen.perspective import build\n")
    assert changed != story
    variables = {**os.environ, "SERVER": "http://127.0.0.1:1", "KEY": "any", "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", changed], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_migration_guide_shows_a_program_that_runs() -> None:
    guide = (STORIES.parents[2] / "docs" / "migrating-from-perspective.md").read_text()
    program = guide.split("#### In the same Python process\n", 1)[1].split("```python\n", 1)[1].split("```", 1)[0]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_arguments_are_those_of_googles_client(client: perspective.Client, google: Any) -> None:
    """Those that say how Google is reached are taken; one that does not exist is the same error."""
    built = perspective.build(
        "commentanalyzer", "v1alpha1", http=object(), developerKey="k", credentials=None, cache_discovery=False, num_retries=3, static_discovery=False
    )
    built.close()
    with pytest.raises(ValueError, match="failed to build youtube v3: toxscreen has only commentanalyzer v1alpha1"):
        perspective.build("youtube", "v3")
    answer = client.comments().analyze(body=comment(RUDE), fields="languages", quotaUser="q", x__xgafv="2").execute(http=object(), num_retries=2)
    assert "attributeScores" in answer
    for service in (client, google):
        with pytest.raises(TypeError, match="Got an unexpected keyword argument text"):
            service.comments().analyze(text=RUDE)


def test_a_request_looks_like_googles(client: perspective.Client, google: Any) -> None:
    own, theirs = client.comments().analyze(body=comment("ü")), google.comments().analyze(body=comment("ü"))
    assert (own.method, own.methodId, own.body) == (theirs.method, theirs.methodId, theirs.body)
    seen: list[Any] = []
    for request in (own, theirs):
        request.add_response_callback(seen.append)
        request.execute()
    assert_same_response(*seen)


def test_retries_are_those_of_googles_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what may pass by itself is tried again, as often as the caller says."""
    monkeypatch.setattr("random.random", lambda: 0.0)

    class Busy:
        """Answers with each of some statuses in turn."""

        def __init__(self, *statuses: int) -> None:
            self.statuses = iter(statuses)

        def post(self, *_: object) -> Answer:
            return Answer(next(self.statuses), "", 11, (), b"{}")

    def execute(retries: int, *statuses: int) -> Any:
        return perspective.HttpRequest(cast(Server, Busy(*statuses)), "analyze", {}, {}).execute(num_retries=retries)

    assert execute(2, 429, 503, 200) == {}
    for retries, statuses in ((0, [503]), (1, [503, 429]), (5, [400])):
        with pytest.raises(perspective.HttpError) as caught:
            execute(retries, *statuses)
        assert caught.value.status_code == statuses[-1]


def suggestion(token: str) -> dict[str, object]:
    return {"comment": {"text": RUDE}, "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}}}, "clientToken": token}


def refused(request: Any) -> Any:
    with pytest.raises(errors.HttpError) as caught:
        request.execute()
    return caught.value


def assert_same(own: Any, theirs: Any) -> None:
    """Compares two errors, of which both may be None."""
    if own is None or theirs is None:
        assert own is theirs
        return
    for attribute in ("status_code", "reason", "error_details", "content"):
        assert getattr(own, attribute) == getattr(theirs, attribute), attribute
    assert own._get_reason() == theirs._get_reason()
    assert str(own).replace(own.uri, "URI") == str(theirs).replace(theirs.uri, "URI")
    assert_same_response(own.resp, theirs.resp)


def assert_same_response(own: Any, theirs: Any) -> None:
    changing = ("date", "x-request-id", "content-location")
    assert {name: value for name, value in own.items() if name not in changing} == {name: value for name, value in theirs.items() if name not in changing}
    assert (own.status, own.reason.strip(), own.version) == (theirs.status, theirs.reason.strip(), theirs.version)
