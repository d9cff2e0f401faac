"""Google's client library for Python, built from the server's discovery document."""

import os

# docs: begin
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

SERVER = os.environ.get("SERVER", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "any")

client = build(
    "commentanalyzer",
    "v1alpha1",
    developerKey=KEY,
    discoveryServiceUrl=f"{SERVER}/$discovery/rest?version=v1alpha1",
    static_discovery=False,
)
answer = client.comments().analyze(body={
    "comment": {"text": "You are a stupid idiot. Have a nice day."},
    "requestedAttributes": {"TOXICITY": {}},
    "spanAnnotations": True,
}).execute()
toxicity = answer["attributeScores"]["TOXICITY"]
assert toxicity["summaryScore"]["value"] > 0.7, answer
# docs: end

first, second = toxicity["spanScores"]
assert (first["begin"], first["end"], second["end"]) == (0, 24, 40), f"the spans are not the two sentences: {answer}"
assert first["score"]["value"] > second["score"]["value"], f"the friendly sentence scores higher: {answer}"
assert answer["languages"] == ["en"] and answer["detectedLanguages"] == ["en"], answer

# Without spanAnnotations there is still one span, in UTF-16 code units.
answer = client.comments().analyze(body={
    "comment": {"text": "Thank you 😀"},
    "requestedAttributes": {"TOXICITY": {}},
    "clientToken": "c1",
}).execute()
only, = answer["attributeScores"]["TOXICITY"]["spanScores"]
assert (only["begin"], only["end"]) == (0, 12), f"the span is not the comment: {answer}"
assert only["score"]["value"] < 0.2, f"thanks score as toxic: {answer}"
assert answer["clientToken"] == "c1", answer

# Scores below a threshold are left out.
answer = client.comments().analyze(body={
    "comment": {"text": "Thank you, that was a great help."},
    "requestedAttributes": {"TOXICITY": {"scoreThreshold": 0.5}},
}).execute()
assert not answer.get("attributeScores"), f"a score below its threshold came back: {answer}"


def refused(body):
    try:
        client.comments().analyze(body=body).execute()
    except HttpError as error:
        return error
    raise AssertionError(f"nothing was wrong with {body}")


# docs: begin
def comment(text, **options):
    return {"comment": {"text": text}, "requestedAttributes": {"TOXICITY": {}}, **options}


finnish = "Tänään on todella kaunis ilma ja lähdemme kävelylle puistoon."
try:
    client.comments().analyze(body=comment(finnish)).execute()
except HttpError as error:
    assert error.status_code == 400
    assert error.error_details[0]["errorType"] == "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"
# docs: end

# Languages of Google's, as the request says and as the server finds them.
FIVE = {
    "de": ("Du bist so ein dummes Arschloch, halt die Fresse.", "Heute ist schönes Wetter, wir gehen in den Park."),
    "es": ("Eres un idiota de mierda, cállate la boca.", "Hoy hace buen tiempo y vamos al parque."),
    "fr": ("T'es vraiment un gros con, ferme ta gueule.", "Il fait beau aujourd'hui et nous allons au parc."),
    "pt": ("Você é um idiota de merda, cala a boca.", "Hoje o tempo está bonito e vamos ao parque."),
    "hi": ("तू एक नंबर का कमीना और गधा है, चुप कर", "आज मौसम अच्छा है और हम पार्क जाएंगे"),
}
for language, (rude, fine) in FIVE.items():
    for languages in ([language], ["en", language], []):
        toxicity = {}
        for text in (rude, fine):
            answer = client.comments().analyze(body=comment(text, languages=languages)).execute()
            assert answer["languages"] == (languages or [language]), answer
            toxicity[text] = answer["attributeScores"]["TOXICITY"]["summaryScore"]["value"]
        assert toxicity[rude] > 0.5 > toxicity[fine], (language, toxicity)

error = refused(comment(finnish))
assert "does not support request languages: fi" in error.reason, error
error = refused(comment("Hyvää päivää", languages=["fi"]))
assert error.error_details[0]["languageNotSupportedByAttributeError"]["requestedLanguages"] == ["fi"], error
error = refused(comment(""))
assert error.reason == "Comment must be non-empty.", error
error = refused({"comment": {"text": "Hello"}, "requestedAttributes": {"TOXICTY": {}}})
assert error.reason == "Unknown requested attribute: TOXICTY", error

# docs: begin
scores = {}


def keep(request_id, answer, error):
    scores[request_id] = error or answer["attributeScores"]["TOXICITY"]["summaryScore"]["value"]


batch = client.new_batch_http_request(callback=keep)
batch.add(client.comments().analyze(body=comment("You are a stupid idiot.")), request_id="rude")
batch.add(client.comments().analyze(body=comment("Thank you.")), request_id="friendly")
batch.add(client.comments().analyze(body=comment(finnish)), request_id="finnish")
batch.execute()
# docs: end
assert scores["rude"] > 0.7 > 0.2 > scores["friendly"], scores
assert "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE" in str(scores["finnish"].error_details), scores

# docs: begin
answer = client.comments().suggestscore(body={
    "comment": {"text": "You are a stupid idiot."},
    "attributeScores": {"TOXICITY": {"summaryScore": {"value": 1}}},
    "clientToken": "moderator-7",
}).execute()
# docs: end
assert answer["clientToken"] == "moderator-7", answer

if KEY != "any":
    stranger = build(
        "commentanalyzer",
        "v1alpha1",
        developerKey="wrong",
        discoveryServiceUrl=f"{SERVER}/$discovery/rest?version=v1alpha1",
        static_discovery=False,
    )
    try:
        stranger.comments().analyze(body=comment("Hello")).execute()
        raise AssertionError("a wrong key was accepted")
    except HttpError as error:
        assert "API key not valid" in error.reason, error
