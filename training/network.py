"""The network: a BERT encoder, heads for the text and for its tokens, and evidence of tokens that joins them.

Written out instead of taken from a library, so that the exported graph has the plain shape that
onnxruntime's fusions look for and does not change with a library's release. It needs PyTorch alone: remote/train.py
runs it where nothing else is installed. So what all trainings here share, their learning rate and precision, is here too.
"""

import functools
import math
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

ATTRIBUTES = 7
SPAN_COLUMNS = (0, 2, 3, 4, 5)  # the attributes that have spans
NO_EVIDENCE = -8.0  # log-odds of a token before training; a hundred of them hardly add up
LARGEST = 15 << 20  # bytes of a file of weights
WARM_UP = 0.1  # share of a training


class Embeddings(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        width = config["hidden_size"]
        self.word = nn.Embedding(config["vocab_size"], width)
        self.position = nn.Embedding(config["max_position_embeddings"], width)
        self.norm = nn.LayerNorm(width, eps=config["layer_norm_eps"])

    def forward(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        return self.norm(self.word(ids) + self.position(positions))


class Dropout(nn.Module):
    """nn.Dropout with a random byte for each number in place of a float: a training step is 8 % faster on a CPU.
    The probability is rounded to 1/256."""

    def __init__(self, probability: float):
        super().__init__()
        self.dropped = round(probability * 256)

    def forward(self, x):
        if not self.training:
            return x
        if x.is_cuda:
            return F.dropout(x, self.dropped / 256)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.dropped
        return x * kept.to(x.dtype).mul_(256 / (256 - self.dropped))


class Layer(nn.Module):
    def __init__(self, config: dict, dropout: nn.Module):
        super().__init__()
        width, eps = config["hidden_size"], config["layer_norm_eps"]
        self.heads = config["num_attention_heads"]
        self.query, self.key, self.value, self.mix = (nn.Linear(width, width) for _ in range(4))
        self.mix_norm = nn.LayerNorm(width, eps=eps)
        self.up = nn.Linear(width, config["intermediate_size"])
        self.down = nn.Linear(config["intermediate_size"], width)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.dropout = dropout

    def forward(self, x, bias):
        """x [texts, tokens, width]; bias is added to attention's logits [texts, heads, tokens, tokens]."""
        texts, tokens, width = x.shape
        per_head = lambda t: t.view(texts, tokens, self.heads, width // self.heads).transpose(1, 2)
        device = x.device.type
        # Once, where autocast would do so for each of the three.
        half = x.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x
        q, k, v = per_head(self.query(half)), per_head(self.key(half)), per_head(self.value(half))
        # Eager attention: PyTorch's fused kernels export to a graph that fusion does not recognise, are slower on a CPU,
        # and with a mask that is broadcast gave gradients that were not finite on a CUDA device.
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(width // self.heads) + bias, dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(texts, tokens, width)
        x = self.mix_norm(self.dropout(self.mix(mixed)) + x)
        return self.norm(self.dropout(self.down(F.gelu(self.up(x)))) + x)


@functools.lru_cache(maxsize=64)
def distance_buckets(tokens: int, buckets: int, device: torch.device | None = None, farthest: int = 128) -> torch.Tensor:
    """int64 [tokens, tokens]: the bucket of the distance between two tokens. Before and after have separate
    buckets; short distances have one each, longer ones by their logarithm (T5, arXiv 1910.10683, as in MPNet)."""
    ahead = torch.arange(tokens)[:, None] - torch.arange(tokens)[None, :]
    side, exact = buckets // 2, buckets // 4
    distance = ahead.abs()
    far = exact + (torch.log(distance.clamp(min=1) / exact) / math.log(farthest / exact) * (side - exact)).long()
    return (torch.where(distance < exact, distance, far.clamp(max=side - 1)) + side * (ahead < 0)).to(device)


class PerText(nn.Linear):
    """A linear layer over [texts, channels] with a separate product for each text: a product of several rows
    rounds differently from one of a single row, and a text's score must not depend on the others in its tensor."""

    def forward(self, x):
        if x.is_cuda:  # only trains there, and a copy of the weights for each text is slow
            return super().forward(x)
        return (self.weight @ x.unsqueeze(-1)).squeeze(-1) + self.bias


class Classifier(nn.Module):
    """ids, mask: int64 [texts, tokens] -> logits [texts, scales * 7], token_logits [texts, tokens, 5].

    The first seven are the attributes on the guideline's scale, which token_logits share; the second seven, if there
    are two scales, on Perspective's."""

    def __init__(self, config: dict, dropout: float = 0.1, head_width: int = 256, scales: int = 1):
        super().__init__()
        width, outputs = config["hidden_size"], scales * ATTRIBUTES
        self.config = config
        self.embeddings = Embeddings(config)
        # On the sublayers' outputs and before the heads. Attention's own dropout is omitted: it took as much time
        # as everything else.
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(Layer(config, self.dropout) for _ in range(config["num_hidden_layers"]))
        buckets = config.get("relative_attention_num_buckets")
        self.distance = nn.Embedding(buckets, config["num_attention_heads"]) if buckets else None
        # [CLS] and the mean, concatenated: the base model was trained for the mean; [CLS] can attend to the one
        # word that matters in a long text.
        self.text_hidden = PerText(2 * width, head_width)
        self.text_head = PerText(head_width, outputs)
        # A text has an attribute if it has it anywhere: each token gives evidence for each attribute, in log-odds, and
        # the odds add up. Spans read the same evidence, so a text with a high score has words that are marked.
        self.evidence = nn.Linear(width, outputs)
        nn.init.constant_(self.evidence.bias, NO_EVIDENCE)
        self.token_head = nn.Linear(width, len(SPAN_COLUMNS))

    def forward(self, ids, mask):
        x, real = self.encoded(ids, mask)
        x, hidden = self.summed_up(x, real)
        logits, evidence = self.anywhere(x, hidden, real, self.text_head, self.evidence)
        return logits, self.token_head(x) + evidence[..., SPAN_COLUMNS]

    def encoded(self, ids, mask):
        """The hidden states of the tokens, and which of them are no padding."""
        x = self.embeddings(ids)
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        if self.distance is not None:
            bias = bias + self.distance(distance_buckets(ids.shape[1], self.distance.num_embeddings, ids.device)).permute(2, 0, 1)
        for layer in self.layers:
            x = layer(x, bias)
        x = x.float()
        return x, mask.unsqueeze(-1).to(x.dtype)

    def summed_up(self, x, real):
        """What the heads read: of each token, and of the text."""
        # As a product, for the same reason as PerText: the rounding of a sum depends on the number of texts.
        mean = (real.transpose(1, 2) @ x).squeeze(1) / real.sum(1)
        hidden = torch.tanh(self.text_hidden(self.dropout(torch.cat([x[:, 0], mean], dim=-1))))
        return self.dropout(x), self.dropout(hidden)

    def anywhere(self, x, hidden, real, text_head, evidence_of):
        """The logits of a text, and the evidence of its tokens."""
        evidence = evidence_of(x)
        overall = text_head(hidden).unsqueeze(1)
        return torch.logsumexp(torch.cat([overall, evidence + (1.0 - real) * -10000.0], dim=1), dim=1), evidence


def shorten(model: Classifier, layers: int):
    """Keeps the given number of the model's layers, evenly spread, including the first and the last."""
    if not 1 <= layers <= len(model.layers):
        raise ValueError(f"failed to keep {layers} layers of {len(model.layers)}: give a number from 1 to {len(model.layers)}")
    kept = [round(i * (len(model.layers) - 1) / max(layers - 1, 1)) for i in range(layers)]
    model.layers = nn.ModuleList(model.layers[i] for i in kept)


def learning_rate(peak: float, done: float) -> float:
    """A warm-up, then a cosine down to 0. done: share of the training, 0..1."""
    return peak * (done / WARM_UP if done < WARM_UP else 0.5 * (1 + math.cos(math.pi * min((done - WARM_UP) / (1 - WARM_UP), 1))))


def fast_bfloat16(device: torch.device) -> bool:
    """Without instructions for it, bfloat16 takes many times as long as float32."""
    return device.type == "cuda" or torch.cpu._is_avx512_bf16_supported()


def save_rounded(state: dict[str, torch.Tensor], folder: Path, name: str, config: dict):
    """Writes weights to NAME-1.pt, NAME-2.pt … of at most about LARGEST bytes: matrices rounded to int8 by rows, the rest in
    float32. A row's largest weight is 127 steps."""
    files, size = [], LARGEST
    for key, value in state.items():
        value = value.detach().cpu().float()
        rows = max(1, LARGEST // max(value[0].numel() if value.ndim else 1, 1))
        for piece in value.split(rows) if value.ndim == 2 else (value,):
            kept = {"float": piece}
            if value.ndim == 2:
                step = piece.abs().amax(1).clamp(min=1e-12) / 127
                kept = {"int8": (piece / step[:, None]).round().to(torch.int8), "step": step}
            length = sum(v.numel() * v.element_size() for v in kept.values())
            if size + length > LARGEST:
                files.append([])
                size = 0
            files[-1].append((key, kept))
            size += length
    for number, pieces in enumerate(files, 1):
        torch.save({"config": config, "files": len(files), "weights": pieces}, Path(folder) / f"{name}-{number}.pt")


def load_rounded(folder: Path, name: str) -> tuple[dict, dict[str, torch.Tensor]]:
    """The configuration and the weights, float32, that save_rounded wrote."""
    pieces, number, files = {}, 0, 1
    while number < files:
        number += 1
        path = Path(folder) / f"{name}-{number}.pt"
        if not path.exists():
            raise FileNotFoundError(f"failed to read the weights {name}: {path} is missing")
        part = torch.load(path, weights_only=True, map_location="cpu")
        files = part["files"]
        for key, kept in part["weights"]:
            pieces.setdefault(key, []).append(kept["float"] if "float" in kept else kept["int8"].float() * kept["step"][:, None])
    return part["config"], {key: values[0] if len(values) == 1 else torch.cat(values) for key, values in pieces.items()}
