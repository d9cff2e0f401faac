"""The sources of a training, and how much each of them counts.

There are two scales. GUIDELINE is docs/model/guideline.md: our grades, and what agrees with them. PERSPECTIVE is what
the real API answered, and what labels the same things: binary labels of Wikipedia's comments and of tweets count
swearing at nobody and bare mentions of groups as toxic, and would teach the first scale their bias.
"""

from dataclasses import dataclass, replace

import data
import mosaics
import multilingual_data

GUIDELINE, PERSPECTIVE = (True, False), (False, True)
BOTH = (True, True)


@dataclass(frozen=True)
class Mix:
    """weight scales the loss of a source's rows, repeat is how often an epoch shows them, most is the maximum of its
    rows in an epoch (a new draw each time). scales: which sets of labels its labels are. anchored: its labels are on
    the reference scale, without a bias of their own. ranked: scores of a machine, whose order counts among harmless
    texts too. cut: sources with one cut were drawn from the same texts with other shares than nature has. labelled: else
    an epoch has its rows only where a teacher has an opinion of them. language: mosaics are mostly of one."""

    weight: float = 1.0
    repeat: float = 1.0
    most: int | None = None
    scales: tuple[bool, bool] = GUIDELINE
    anchored: bool = False
    ranked: bool = False
    cut: str | None = None
    labelled: bool = True
    language: str = "en"


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
    "natural": Mix(most=150_000, labelled=False),
}
# Rows whose text may stand around another in a mosaic: harmless in every respect, not only in what was annotated.
HARMLESS = (*mosaics.HARMLESS_SOURCES, "field_sentences", "natural_graded")
assert {*MIX} >= {*data.LABELLED}


# The model of many languages has one scale, GUIDELINE's: nobody asked Perspective's question in most of them.
#
# An epoch shows each language about 5,400 rows that we wrote or graded: natural ones three times, those of labelled sets
# twice, and sentences as often as fills this up, which is more where no labelled set has graded rows and in Hindi,
# whose two scripts share the sentences. Labelled sets add at most 2,500 rows of a language: their sizes say what was at
# hand, not what matters. They weigh as they agree with our grades of 125 to 500 rows of each: 0.7 where the AUC of
# their toxicity is 0.85 or more, 0.5 where it is 0.8, 0.3 below that (fr_mlma and vi_victsd 0.69, hi-Latn_politics and
# zh_cold 0.74). English is more than a quarter of the texts: whatever the language, there is some in it, and 250,000 of its rows
# have grades or marks.
WITHOUT_GRADED = ("cs", "id", "nl", "sv")
MULTILINGUAL = {
    **{f"sentences_{language}": Mix(weight=1.5, repeat=2.2 if language[:2] == "hi" else 1.7 if language in WITHOUT_GRADED else 1.2, anchored=True, language=language) for language in multilingual_data.LANGUAGES},
    **{f"graded_natural_{language}": Mix(weight=1.5, repeat=3, anchored=True, language=language) for language in multilingual_data.LANGUAGES},
    **{f"graded_{language}": Mix(weight=2.0, repeat=2, anchored=True, language=language) for language in multilingual_data.LANGUAGES if language not in WITHOUT_GRADED},
    "ar_lhsab": Mix(weight=0.7, most=1200, language="ar"),
    "ar_offenseval20": Mix(weight=0.7, most=1200, language="ar"),
    "ar_mlma": Mix(weight=0.5, most=300, language="ar"),
    "de_gahd": Mix(weight=0.7, most=1200, language="de"),
    "de_germeval18": Mix(weight=0.7, most=900, language="de"),
    "de_germeval21": Mix(weight=0.3, most=400, language="de"),
    "es_offendes": Mix(weight=0.7, most=2500, language="es"),
    "fr_cyberagressionado": Mix(weight=0.7, most=1800, language="fr"),
    "fr_mlma": Mix(weight=0.3, most=700, language="fr"),
    "hi_macd": Mix(weight=0.7, most=2500, language="hi"),
    "hi-Latn_politics": Mix(weight=0.3, most=1500, language="hi-Latn"),
    "it_whatsapp": Mix(weight=0.5, language="it"),
    "ja_inspection": Mix(weight=0.5, repeat=2, language="ja"),
    "ko_apeach": Mix(weight=0.7, most=600, language="ko"),
    "ko_beep": Mix(weight=0.7, most=800, language="ko"),
    "ko_kmhas": Mix(weight=0.7, most=1100, language="ko"),
    "pl_poleval19": Mix(weight=0.7, most=2500, language="pl"),
    "pt_fortuna": Mix(weight=0.7, most=700, language="pt"),
    "pt_toldbr": Mix(weight=0.5, most=900, language="pt"),
    "pt_tupy": Mix(weight=0.7, most=900, language="pt"),
    "ru_rudetox": Mix(weight=0.7, most=2500, language="ru"),
    "tr_offenseval20": Mix(weight=0.7, most=2500, language="tr"),
    "vi_victsd": Mix(weight=0.3, most=800, language="vi"),
    "vi_vihos": Mix(most=1800, language="vi"),  # the only marks of words that are not English
    "zh_cold": Mix(weight=0.3, most=2500, language="zh"),
    # English, as above.
    "annotations": replace(MIX["annotations"], weight=1.5, repeat=1, most=16_000),
    "natural_graded": replace(MIX["natural_graded"], repeat=1, most=12_000),
    "sentences": replace(MIX["sentences"], repeat=1, most=12_000),
    "field_sentences": replace(MIX["field_sentences"], repeat=1, most=8_000),
    "civil_spans": replace(MIX["civil_spans"], most=6_000),
    "toxic_spans_train": replace(MIX["toxic_spans_train"], most=3_000),
    "toxic_spans_trial": MIX["toxic_spans_trial"],
    "clean_prompts": replace(MIX["clean_prompts"], most=1_500),
    "clean_lookalikes_own": replace(MIX["clean_lookalikes_own"], repeat=1),
    # Harmless, as is what stands beside it.
    **{f"natural_{language}": Mix(weight=0.5, most=500, anchored=True, language=language) for language in multilingual_data.LANGUAGES},
}
# Labelled sets are no parts of mosaics: nobody there was asked about all attributes.
MULTILINGUAL_HARMLESS = (*(name for name, mix in MULTILINGUAL.items() if name.startswith(("sentences", "graded_natural", "natural"))), *(name for name in HARMLESS if name in MULTILINGUAL))
assert {name for name, of in multilingual_data.SETS.items() if not of.measures} <= {*MULTILINGUAL}
