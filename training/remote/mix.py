"""The sources of a training, and how much each of them counts.

There are two scales. GUIDELINE is docs/model/guideline.md: our grades, and what agrees with them. PERSPECTIVE is what
the real API answered, and what labels the same things: binary labels of Wikipedia's comments and of tweets count
swearing at nobody and bare mentions of groups as toxic, and would teach the first scale their bias.
"""

from dataclasses import dataclass

import data
import mosaics

GUIDELINE, PERSPECTIVE = (True, False), (False, True)
BOTH = (True, True)


@dataclass(frozen=True)
class Mix:
    """weight scales the loss of a source's rows, repeat is how often an epoch shows them, most is the maximum of its
    rows in an epoch (a new draw each time). scales: which sets of labels its labels are. anchored: its labels are on
    the reference scale, without a bias of their own. ranked: scores of a machine, whose order counts among harmless
    texts too. cut: sources with one cut were drawn from the same texts with other shares than nature has."""

    weight: float = 1.0
    repeat: float = 1.0
    most: int | None = None
    scales: tuple[bool, bool] = GUIDELINE
    anchored: bool = False
    ranked: bool = False
    cut: str | None = None


MIX = {
    # Graded by the guideline.
    "annotations": Mix(weight=2.0, repeat=2, anchored=True),
    "natural_graded": Mix(weight=1.5, repeat=3, anchored=True),
    "sentences": Mix(repeat=0.6, anchored=True),
    "field_sentences": Mix(weight=1.5, repeat=4, anchored=True),
    # Shares of raters who were asked nearly what Perspective asked.
    "civil_spans": Mix(weight=1.5, scales=BOTH, anchored=True),
    "civil_comments_100": Mix(scales=BOTH, anchored=True),
    "wikipedia_annotators": Mix(scales=BOTH, anchored=True),
    # Marks of words.
    "toxic_spans_train": Mix(anchored=True),
    "toxic_spans_trial": Mix(anchored=True),
    # Harmless by construction.
    "clean_prompts": Mix(anchored=True),
    "clean_software": Mix(weight=0.7, anchored=True),
    "clean_lookalikes_own": Mix(repeat=2, anchored=True),
    "madlibs": Mix(weight=0.5, most=1500, anchored=True),  # of 15,800 rows of two templates that differ in a name and an adjective
    "bold_neutral": Mix(weight=0.5, most=3000, anchored=True),
    "documentation": Mix(weight=0.5, most=4000, anchored=True),
    "grammars": Mix(weight=0.5, most=6000, anchored=True),
    # People's labels of hate, sexism, abuse, each by a definition of its own.
    "edos": Mix(weight=0.7),
    "toxigen_human": Mix(),
    "toxigen_seeds": Mix(repeat=2),
    "implicit_hate": Mix(),
    "dynahate": Mix(),
    "hatexplain": Mix(weight=0.5, most=8000),
    "stormfront": Mix(),
    "convabuse": Mix(),
    "measuring_hate": Mix(weight=0.7),
    "llm_toxic_clean": Mix(),
    "profanity_lexicon": Mix(weight=0.5),
    "cad_reddit": Mix(),
    "conda_dota2": Mix(),
    "dota2_chat_more": Mix(weight=0.5),
    "hatemoji_build": Mix(repeat=2),
    "impermium_insults": Mix(),
    "implicit_abuse_groups": Mix(),
    "abusive_comparisons": Mix(repeat=2),
    "jokes_hahackathon": Mix(weight=0.7, ranked=True),
    "parler_hate": Mix(weight=0.7),
    "swear_abuse_or_profane": Mix(),
    "reclaimed_slurs": Mix(weight=0.7),
    "suicidal_tweets": Mix(weight=0.5),
    "workplace_sexism": Mix(weight=0.7),
    "dynacounter": Mix(weight=0.7),
    "counter_context_reddit": Mix(weight=0.3),
    # The second scale.
    "perspective_rtp": Mix(weight=1.5, repeat=2, scales=PERSPECTIVE, anchored=True, ranked=True),
    "perspective_rtp2": Mix(weight=1.5, repeat=2, scales=PERSPECTIVE, anchored=True, ranked=True),
    "perspective_toxigen": Mix(scales=PERSPECTIVE, ranked=True),
    "perspective_implicit_hate": Mix(scales=PERSPECTIVE, ranked=True),
    "perspective_github": Mix(weight=0.7, scales=PERSPECTIVE, ranked=True),
    "perspective_context": Mix(weight=0.7, scales=PERSPECTIVE, ranked=True),  # mean 0.12, where raters find 1 % toxic: off the scale
    "jigsaw": Mix(scales=PERSPECTIVE, cut="jigsaw"),
    "jigsaw_negatives": Mix(scales=PERSPECTIVE, cut="jigsaw"),
    "jigsaw_more": Mix(scales=PERSPECTIVE, anchored=True),
    "davidson": Mix(weight=0.5, scales=PERSPECTIVE),
    "mlma_en": Mix(weight=0.3, most=2000, scales=PERSPECTIVE),
    "paradetox": Mix(weight=0.7, scales=PERSPECTIVE),
    "olid_tweets": Mix(weight=0.7, scales=PERSPECTIVE),
    "hasoc2019_en": Mix(weight=0.3, scales=PERSPECTIVE),
    "hateval_tweets": Mix(weight=0.3, scales=PERSPECTIVE),
    "waseem_tweets": Mix(weight=0.3, scales=PERSPECTIVE),
    "us_election_hof": Mix(weight=0.5, scales=PERSPECTIVE),
    # Nobody labelled it: the teachers' opinion is its label.
    "natural": Mix(most=150_000),
}
# Rows whose text may stand around another in a mosaic: harmless in every respect, not only in what was annotated.
HARMLESS = (*mosaics.HARMLESS_SOURCES, "field_sentences", "natural_graded")
assert {*MIX} >= {*data.LABELLED}
