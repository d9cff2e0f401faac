"""Writes tiny.gguf: a language model of two Llama layers that knows nothing, for tests of the protocol.

    pip install -r scripts/make/tiny-models/requirements.txt
    python judge/ollama/ollamatest/testdata/make_tiny.py [FILE]

A real Ollama server runs it in milliseconds. Its tokens are the 256 bytes, so it can write and read any
text, with the words of verdicts and a few hundred common ones. The weights are drawn from a fixed
seed. The first element of every hidden state is made nearly constant, which turns the first column of
the output matrix into one bias a token: it makes digits, letters, what closes strings and lists, and the end
likely and control bytes unlikely, so that JSON under a schema comes to its end. What is left is a random function
of the text: answers are always the same for the same prompt, differ between texts, and mean nothing.

The same versions of gguf and numpy write the same bytes.
"""

import pathlib
import sys

import gguf
import numpy as np

SEED = 20261122
# One head: with four, heeding a prompt of 500 tokens takes five times as long.
WIDTH, LAYERS, HEADS, INNER = 64, 2, 1, 128
CONTEXT = 32768

# The words of verdicts. In JSON they stand without a space before them, elsewhere with one.
WORDS = ["yes", "no", "Yes", "No", "true", "false", "safe", "unsafe", "null", "Ġyes", "Ġno"]
# The keys of verdicts, so that an answer has few tokens.
KEYS = ["verdict", "severity", "evidence", "violations", "reason"]
# Common words, so that prompts are not several times as long as those of real models.
COMMON = """the of and to a in is that it for as with was his he be not by but are this at from they or an which you
one we all were her she there would their him been has when who will more if no out so said what up its about into
than them can only other new some could time these two may then do first any my now such like our over man me even
most made after also did many before must through back years where much your way well down should because each just
those people how too little state good very make world still own see men work long get here between both life being
under never day same another know while last might us great old year off come since against go came right used take
three text judge judged verdict score aspect aspects severity level levels rubric reason evidence quote quotation
question answer answers criteria goal violation violations toxic toxicity toxic insult insults threat threats
profanity identity attack attacks hate speech mockery sarcasm dismissive personal person group language rude content
user assistant system message instruction instructions data treat follow ignore whether exactly following json
schema object value field name true false yes none mild moderate severe extreme statement statements example word
words thank help edit article stupid idiot nice read write please does contain means part given only never always""".split()


def merges():
    """Pairs of tokens that make longer ones, in the order in which they are applied, letter by letter."""
    pairs = {}
    for word in [*WORDS, *KEYS, *("Ġ" + w for w in COMMON)]:
        for i in range(1, len(word)):
            pairs.setdefault(word[: i + 1], (word[:i], word[i]))
    # Beginnings of words come first, so that no pair in the middle of one takes a letter away from them.
    return sorted(pairs.values(), key=lambda pair: (pair[0][0] != "Ġ", len(pair[0])))


# The names of ChatML, with which most small models were trained; Ollama knows the template.
END, START_TURN, END_TURN = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def byte_characters():
    """GPT-2's printable stand-in for each byte."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = (b for b in range(256) if b not in printable)
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}


def biases(tokens, special):
    """How much likelier than others each token is made, in logits."""
    bias = np.full(len(tokens), -4.0)
    for i, token in enumerate(tokens):
        if token in special or token in "ĊčĉĠ":
            bias[i] = -6.0
        elif token in ("yes", "no"):
            bias[i] = 5.0
        elif token in WORDS:
            bias[i] = 3.0
        elif token in KEYS:
            bias[i] = 4.0
        elif len(token) > 1:
            bias[i] = -8.0
        elif token.isascii() and token.isalnum() and len(token) == 1:
            bias[i] = 1.0
        elif token in ",.:{}[]-":
            bias[i] = 0.0
    # So that strings and lists end soon.
    bias[tokens.index('"')] = 5.0
    bias[tokens.index("]")] = 2.0
    bias[tokens.index(END_TURN)] = 1.5
    return bias


def main(path):
    random = np.random.default_rng(SEED)
    tokens = list(byte_characters().values())
    pairs = merges()
    tokens += [a + b for a, b in pairs]
    special = [END, START_TURN, END_TURN]
    tokens += special
    kinds = [gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens]

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_license("Apache-2.0")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([f"{a} {b}" for a, b in pairs])
    writer.add_bos_token_id(tokens.index(START_TURN))
    writer.add_eos_token_id(tokens.index(END_TURN))
    writer.add_unk_token_id(tokens.index(END))
    writer.add_pad_token_id(tokens.index(END_TURN))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)

    def matrix(rows, columns, scale):
        return (random.standard_normal((rows, columns)) * scale / np.sqrt(columns)).astype(np.float32)

    def add(name, weights, dtype=np.float16):
        writer.add_tensor(name, weights.astype(dtype))

    def reading(rows, scale):
        """A matrix that does not see the first element."""
        weights = matrix(rows, WIDTH, scale)
        weights[:, 0] = 0
        return weights

    def writing(columns, scale):
        """A matrix that leaves the first element as it is."""
        weights = matrix(WIDTH, columns, scale)
        weights[0] = 0
        return weights

    # The other elements begin at a size of about 1, and the layers add up to about 4.
    constant, others = 24.0, 4.0
    embedding = matrix(len(tokens), WIDTH, np.sqrt(WIDTH))
    embedding[:, 0] = constant
    output = matrix(len(tokens), WIDTH, 1.2)
    root_mean_square = np.sqrt((constant**2 + (WIDTH - 1) * others**2) / WIDTH)
    output[:, 0] = biases(tokens, special) * root_mean_square / constant
    add("token_embd.weight", embedding)
    add("output_norm.weight", np.ones(WIDTH), np.float32)
    add("output.weight", output)
    for i in range(LAYERS):
        add(f"blk.{i}.attn_norm.weight", np.ones(WIDTH), np.float32)
        # Large enough that a token heeds few others and what they are matters, and small enough that
        # none is the only one: every letter of a prompt changes the answer's probabilities.
        for name, scale in (("attn_q", 3.0), ("attn_k", 3.0), ("attn_v", 6.0)):
            add(f"blk.{i}.{name}.weight", reading(WIDTH, scale))
        add(f"blk.{i}.attn_output.weight", writing(WIDTH, 2.0))
        add(f"blk.{i}.ffn_norm.weight", np.ones(WIDTH), np.float32)
        for name in ("ffn_gate", "ffn_up"):
            add(f"blk.{i}.{name}.weight", reading(INNER, 3.0))
        add(f"blk.{i}.ffn_down.weight", writing(INNER, 1.0))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("tiny.gguf"))
