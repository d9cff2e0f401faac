"""The Perspective API in this process, with the surface of Google's Python client.

A program changes one import and may keep the rest:

    from toxscreen import perspective as discovery  # was: from googleapiclient import discovery

    client = discovery.build("commentanalyzer", "v1alpha1", developerKey=KEY)
    answer = client.comments().analyze(body={
        "comment": {"text": "you idiot"},
        "requestedAttributes": {"TOXICITY": {}},
    }).execute()
    answer["attributeScores"]["TOXICITY"]["summaryScore"]["value"]

A private `toxscreen serve` process answers, so requests, answers and errors are those of docs/api/perspective.md. Nothing is sent
over the network, except to a judge if one is configured.
"""

from __future__ import annotations

import email
import functools
import http.client
import io
import itertools
import json
import os
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Self

from toxscreen._command import Path, command
from toxscreen._results import ToxscreenError
from toxscreen._server import Answer, Server


def build(
    serviceName: str,
    version: str,
    *,
    developerKey: str | None = None,
    http: object = None,
    discoveryServiceUrl: str | None = None,
    credentials: object = None,
    cache_discovery: bool = True,
    cache: object = None,
    client_options: object = None,
    adc_cert_path: str | None = None,
    adc_key_path: str | None = None,
    num_retries: int = 1,
    static_discovery: bool | None = None,
    always_use_jwt_access: bool = False,
) -> Client:
    """Returns a Client, as googleapiclient.discovery.build does.

    The arguments that say how to reach Google, and as whom, have no effect: all but the first two. Those that would change
    requests and answers, model and requestBuilder, do not exist. Raises ValueError for a service other than commentanalyzer
    v1alpha1.
    """
    if (serviceName, version) != ("commentanalyzer", "v1alpha1"):
        raise ValueError(f"failed to build {serviceName} {version}: toxscreen has only commentanalyzer v1alpha1; build others with googleapiclient.discovery")
    return Client()


class Client:
    """What build returns. All methods are safe for concurrent use, in forked processes too.

    The server starts with the first call. It ends with close, or when nothing refers to the client any more, or when this process
    ends. If it dies, it is started again and the call is sent once more; a suggestion without clientToken may then count twice.
    """

    def __init__(
        self,
        *,
        model: Path | None = None,
        threads: int | None = None,
        full: bool = False,
        max_bytes: int | None = None,
        calibration: Path | None = None,
        no_judge: bool = False,
        judge_model: str | None = None,
        judge_host: str | None = None,
        feedback: Path | None = None,
        binary: Path | None = None,
        onnxruntime: Path | None = None,
    ) -> None:
        """Finds the binary. Raises ToxscreenError if there is none; a wrong setting is an error of the first call.

        feedback     file for what suggestscore sends, or "off"; by default the one of `toxscreen serve`
        The others are those of Screener.
        """
        line = command(
            "serve",
            {
                "model": model,
                "threads": threads,
                "full": full,
                "max_bytes": max_bytes,
                "calibration": calibration,
                "no_judge": no_judge,
                "judge_model": judge_model,
                "judge_host": judge_host,
                "onnxruntime": onnxruntime,
            },
            binary,
        )
        storing = line if feedback is None else [*line, f"--feedback={os.fspath(feedback)}"]
        # A program that only analyzes needs no place for feedback, and gets no file.
        self._analyzing, self._storing = (Server(one, dict(os.environ), os.getcwd()) for one in ([*line, "--feedback=off"], storing))

    def comments(self) -> Comments:
        return Comments(self._analyzing, self._storing)

    def new_batch_http_request(self, callback: Callback | None = None) -> BatchHttpRequest:
        """Returns an empty batch. The callback gets the answer to each call, after the call's own callback."""
        return BatchHttpRequest(callback)

    def close(self) -> None:
        """Ends the server. A later call starts it again, as Google's client connects again."""
        self._analyzing.close()
        self._storing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Comments:
    """The methods of the API. Their keyword arguments are those of Google's client; all but body have no effect."""

    def __init__(self, analyzing: Server, storing: Server) -> None:
        self._analyzing, self._storing = analyzing, storing

    def analyze(self, *, body: object = None, **parameters: object) -> HttpRequest:
        """Returns the request for the scores of a comment. Nothing is sent before its execute."""
        return HttpRequest(self._analyzing, "analyze", body, parameters)

    def suggestscore(self, *, body: object = None, **parameters: object) -> HttpRequest:
        """Returns the request to keep what a person says about a comment. Nothing is sent before its execute."""
        return HttpRequest(self._storing, "suggestscore", body, parameters)


class HttpRequest:
    """A call of a method, to be executed or added to a batch. uri, method, methodId and body are as in Google's client, without a key."""

    def __init__(self, server: Server, name: str, body: object, parameters: dict[str, object]) -> None:
        for parameter in parameters:
            if parameter not in _PARAMETERS:
                raise TypeError(f"Got an unexpected keyword argument {parameter}")
        self._server = server
        self._callbacks: list[Callable[[Response], object]] = []
        self._target = f"/v1alpha1/comments:{name}?alt=json"
        self.uri = f"http://localhost{self._target}"
        self.method = "POST"
        self.methodId = f"commentanalyzer.comments.{name}"
        self.body = None if body is None else json.dumps(body)

    def execute(self, http: object = None, num_retries: int = 0) -> Any:
        """Sends the request and returns the answer as dicts and lists, as json.loads does.

        With num_retries, a request that fails with a status of 500 and more or 429 is sent again after a random time that doubles.
        http has no effect. Raises HttpError for a status of 300 and more, and ToxscreenError if there is no answer.
        """
        for retry in range(num_retries + 1):
            if retry > 0:
                time.sleep(random.random() * 2**retry)  # as Google's client
            answer = self._server.post(self._target, "application/json", (self.body or "").encode())
            if answer.status < 500 and answer.status != 429:
                break
        response = Response(answer)
        for callback in self._callbacks:
            callback(response)
        return _content(response, answer.body, self.uri)

    def add_response_callback(self, cb: Callable[[Response], object]) -> None:
        """Makes execute call a function with each response, also with those that are errors."""
        self._callbacks.append(cb)


# Of Google's APIs, and of its client itself.
_PARAMETERS = frozenset(
    (
        "access_token",
        "alt",
        "callback",
        "fields",
        "key",
        "oauth_token",
        "pp",
        "prettyPrint",
        "quotaUser",
        "strict",
        "trace",
        "upload_protocol",
        "uploadType",
        "userip",
        "x__xgafv",
    )
)

# A function that a batch calls with the id of a request, and its answer or its error.
Callback = Callable[[str, Any, "HttpError | None"], object]


class BatchHttpRequest:
    """Calls that are sent as one request and scored side by side. Not safe for concurrent use."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback = callback
        self._requests: dict[str, tuple[HttpRequest, Callback | None]] = {}
        self._numbers = map(str, itertools.count(1))

    def add(self, request: HttpRequest, callback: Callback | None = None, request_id: str | None = None) -> None:
        """Adds a call. Its id is a number by default. Raises KeyError if the id is taken."""
        if request_id is None:
            request_id = next(number for number in self._numbers if number not in self._requests)
        if request_id in self._requests:
            raise KeyError(f"A request with this ID already exists: {request_id}")
        self._requests[request_id] = request, callback

    def execute(self, http: object = None) -> None:
        """Sends the calls and passes on their answers in the order in which they were added. http has no effect.

        Raises HttpError if the batch as a whole is refused, as one with more than 1,000 calls is, and ToxscreenError if there is no
        answer.
        """
        if not self._requests:
            return
        requests = [request for request, _ in self._requests.values()]
        server = next((r._server for r in requests if r.methodId.endswith(".suggestscore")), requests[0]._server)
        boundary = uuid.uuid4().hex
        parts = [
            f"--{boundary}\r\nContent-Type: application/http\r\n\r\n{r.method} {r._target} HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{r.body or ''}\r\n"
            for r in requests
        ]
        whole = server.post("/batch", f"multipart/mixed; boundary={boundary}", f"{''.join(parts)}--{boundary}--\r\n".encode())
        if whole.status >= 300:
            raise _http_error(Response(whole), whole.body, "http://localhost/batch")
        for (request_id, (request, own)), answer in zip(self._requests.items(), _parts(whole), strict=True):
            content, error = None, None
            try:
                content = _content(Response(answer), answer.body, request.uri)
            except HttpError as refused:
                error = refused
            for callback in (own, self._callback):
                if callback is not None:
                    callback(request_id, content, error)


class Response(dict[str, str]):
    """The headers of an answer by their names in lower case, with the status. It has the attributes of httplib2's."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        for name, value in answer.headers:
            key = name.lower()
            self[key] = f"{self[key]}, {value}" if key in self else value
        self["status"] = str(answer.status)
        self.status = answer.status
        self.reason = answer.reason
        self.version = answer.version


class HttpError(ToxscreenError):
    """An error of the API, in Google's words.

    If the program has imported googleapiclient.errors, what is raised is an HttpError of that module, too.

    resp           the response, with status, reason and headers
    content        its body
    uri            the address that was asked
    reason         the message of the error
    error_details  a list of details, or else the message
    """

    def __init__(self, resp: Response, content: bytes, uri: str | None = None) -> None:
        # Google's __init__ would be the next one, and expects its own class of responses.
        Exception.__init__(self, resp, content, uri)
        self.resp, self.content, self.uri = resp, content, uri
        self.reason = resp.reason
        self.error_details: Any = ""
        try:
            error = json.loads(content)["error"]
            self.reason = error["message"].strip()
            self.error_details = error.get("details", error["message"])
        except (ValueError, LookupError, TypeError):  # an answer of the HTTP server itself
            self.error_details = content.decode(errors="replace")

    @property
    def status_code(self) -> int:
        return self.resp.status

    def _get_reason(self) -> str:
        return self.reason  # some programs call it

    def __str__(self) -> str:
        return f'<HttpError {self.resp.status} when requesting {self.uri} returned "{self.reason}". Details: "{self.error_details}">'

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return _http_error, (self.resp, self.content, self.uri)


def _http_error(resp: Response, content: bytes, uri: str | None) -> HttpError:
    # Only a program that has imported Google's class can catch it.
    google = sys.modules.get("googleapiclient.errors")
    return (HttpError if google is None else _both(google.HttpError))(resp, content, uri)


@functools.cache
def _both(google: type[Exception]) -> type[HttpError]:
    return type("HttpError", (HttpError, google), {"__module__": __name__})


def _content(response: Response, body: bytes, uri: str) -> Any:
    if response.status >= 300:
        raise _http_error(response, body, uri)
    return json.loads(body)


def _parts(batch: Answer) -> Iterator[Answer]:
    """Yields the answers in the answer to a batch, which are in the order of the calls."""
    header = f"Content-Type: {Response(batch)['content-type']}\r\n\r\n"
    for part in email.message_from_bytes(header.encode() + batch.body).walk():
        content = part.get_payload(decode=True)
        if isinstance(content, bytes):  # not the whole
            lines = io.BytesIO(content)
            _, status, reason = lines.readline().decode().strip().split(" ", 2)
            headers = http.client.parse_headers(lines)
            yield Answer(int(status), reason, 11, tuple(headers.items()), lines.read())
