"""The files of a ChatTTS release and the name and shape of every tensor in them."""

from collections.abc import Mapping
from dataclasses import dataclass

Shapes = dict[str, tuple[int, ...]]

DECODER = "asset/Decoder.safetensors"
DVAE = "asset/DVAE.safetensors"
EMBED = "asset/Embed.safetensors"
VOCOS = "asset/Vocos.safetensors"
GPT = "asset/gpt/model.safetensors"
GPT_CONFIG = "asset/gpt/config.json"
TOKENIZER = "asset/tokenizer/tokenizer.json"
TOKENIZER_CONFIG = "asset/tokenizer/tokenizer_config.json"
SPECIAL_TOKENS = "asset/tokenizer/special_tokens_map.json"

FILES = (DECODER, DVAE, EMBED, VOCOS, GPT_CONFIG, GPT, SPECIAL_TOKENS, TOKENIZER_CONFIG, TOKENIZER)

MELS = 100
HOP = 256
N_FFT = 1024
SAMPLE_RATE = 24_000
TOKEN_SAMPLES = 2 * HOP
"""One codec token is two mel frames."""
EXACT = 52
"""Tokens that must follow a token before its samples are final."""


@dataclass(frozen=True, slots=True)
class GptConfig:
    """The sizes of the language model; the defaults are the released ones."""

    layers: int = 20
    hidden: int = 768
    heads: int = 12
    intermediate: int = 3072
    max_positions: int = 4096
    text_tokens: int = 21_178
    audio_tokens: int = 626
    codebooks: int = 4
    norm_eps: float = 1e-6
    rope_theta: float = 10_000.0

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads

    @property
    def eos(self) -> int:
        """The code that ends the audio, in any codebook."""
        return self.audio_tokens - 1

    def to_json(self) -> dict[str, object]:
        """What `config.json` of the release holds of it."""
        return {
            "architectures": ["LlamaModel"],
            "model_type": "llama",
            "hidden_act": "silu",
            "hidden_size": self.hidden,
            "intermediate_size": self.intermediate,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.heads,
            "max_position_embeddings": self.max_positions,
            "rms_norm_eps": self.norm_eps,
            "rope_theta": self.rope_theta,
            "num_text_tokens": self.text_tokens,
            "num_audio_tokens": self.audio_tokens,
            "num_vq": self.codebooks,
            "use_cache": False,
            "vocab_size": 32_000,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, object]) -> "GptConfig":
        """Read `config.json`. What it does not say has the released size. Raises ValueError."""
        names = {
            "layers": "num_hidden_layers",
            "hidden": "hidden_size",
            "heads": "num_attention_heads",
            "intermediate": "intermediate_size",
            "max_positions": "max_position_embeddings",
            "text_tokens": "num_text_tokens",
            "audio_tokens": "num_audio_tokens",
            "codebooks": "num_vq",
        }
        sizes: dict[str, int] = {}
        for ours, theirs in names.items():
            value = values.get(theirs, getattr(cls(), ours))
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"{theirs} must be a positive integer, not {value!r}")
            sizes[ours] = value
        if values.get("num_key_value_heads", sizes["heads"]) != sizes["heads"]:
            raise ValueError("grouped key-value heads are not a ChatTTS model")
        return cls(**sizes)


@dataclass(frozen=True, slots=True)
class StackConfig:
    """The sizes of one convolution stack of the DVAE."""

    inputs: int
    outputs: int
    hidden: int
    layers: int
    bottleneck: int = 128


@dataclass(frozen=True, slots=True)
class VocoderConfig:
    """The sizes of Vocos."""

    hidden: int = 512
    intermediate: int = 1536
    layers: int = 8


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The sizes of everything."""

    gpt: GptConfig = GptConfig()
    decoder: StackConfig = StackConfig(384, 384, 512, 12)
    dvae_encoder: StackConfig = StackConfig(512, 1024, 256, 12)
    dvae_decoder: StackConfig = StackConfig(512, 512, 256, 12)
    vocoder: VocoderConfig = VocoderConfig()


TINY = ModelConfig(
    GptConfig(layers=2, hidden=128, heads=2, intermediate=256),
    StackConfig(64, 64, 32, 12, 16),
    StackConfig(64, 1024, 32, 1, 16),
    StackConfig(64, 64, 32, 1, 16),
    VocoderConfig(32, 64, 8),
)
"""The same shapes in small, for tests. Vocabulary, codebooks, sample rate and how far the vocoder sees are the released
ones."""


def gpt_shapes(config: GptConfig) -> Shapes:
    hidden, wide = config.hidden, config.intermediate
    shapes: Shapes = {}
    for index in range(config.layers):
        layer = f"layers.{index}"
        shapes[f"{layer}.input_layernorm.weight"] = (hidden,)
        for name in "qkvo":
            shapes[f"{layer}.self_attn.{name}_proj.weight"] = (hidden, hidden)
        shapes[f"{layer}.post_attention_layernorm.weight"] = (hidden,)
        shapes[f"{layer}.mlp.gate_proj.weight"] = (wide, hidden)
        shapes[f"{layer}.mlp.up_proj.weight"] = (wide, hidden)
        shapes[f"{layer}.mlp.down_proj.weight"] = (hidden, wide)
    shapes["norm.weight"] = (hidden,)
    return shapes


def embed_shapes(config: GptConfig) -> Shapes:
    shapes: Shapes = {"emb_text.weight": (config.text_tokens, config.hidden)}
    heads = {"head_text": config.text_tokens}
    for book in range(config.codebooks):
        shapes[f"emb_code.{book}.weight"] = (config.audio_tokens, config.hidden)
        heads[f"head_code.{book}"] = config.audio_tokens
    for name, rows in heads.items():
        shapes[f"{name}.parametrizations.weight.original0"] = (rows, 1)
        shapes[f"{name}.parametrizations.weight.original1"] = (rows, config.hidden)
    return shapes


def decoder_shapes(stack: StackConfig) -> Shapes:
    return {
        "coef": (1, MELS, 1),
        **_stack("decoder", stack),
        "out_conv.weight": (MELS, stack.outputs, 3),
    }


def dvae_shapes(encoder: StackConfig, decoder: StackConfig) -> Shapes:
    wide = encoder.inputs
    shapes: Shapes = {
        "coef": (1, MELS, 1),
        "downsample_conv.0.weight": (wide, MELS, 3),
        "downsample_conv.0.bias": (wide,),
        "downsample_conv.2.weight": (wide, wide, 4),
        "downsample_conv.2.bias": (wide,),
        "preprocessor_mel.mel_spec.spectrogram.window": (N_FFT,),
        "preprocessor_mel.mel_spec.mel_scale.fb": (N_FFT // 2 + 1, MELS),
        **_stack("encoder", encoder),
        **_stack("decoder", decoder),
        "out_conv.weight": (MELS, decoder.outputs, 3),
    }
    for group in range(2):
        name = f"vq_layer.quantizer.rvqs.{group}"
        shapes |= _dense(f"{name}.project_in", 4, encoder.outputs // 2)
        shapes |= _dense(f"{name}.project_out", encoder.outputs // 2, 4)
    return shapes


def vocos_shapes(config: VocoderConfig) -> Shapes:
    shapes: Shapes = {
        "feature_extractor.mel_spec.spectrogram.window": (N_FFT,),
        "feature_extractor.mel_spec.mel_scale.fb": (N_FFT // 2 + 1, MELS),
        **_dense("backbone.embed", config.hidden, MELS, 7),
        **_norm("backbone.norm", config.hidden),
    }
    for index in range(config.layers):
        shapes |= _block(f"backbone.convnext.{index}", config.hidden, config.intermediate, "gamma")
    return {
        **shapes,
        **_norm("backbone.final_layer_norm", config.hidden),
        **_dense("head.out", N_FFT + 2, config.hidden),
        "head.istft.window": (N_FFT,),
    }


def tensor_shapes(config: ModelConfig) -> dict[str, Shapes]:
    """By file, the shape of every tensor in it."""
    return {
        DECODER: decoder_shapes(config.decoder),
        DVAE: dvae_shapes(config.dvae_encoder, config.dvae_decoder),
        EMBED: embed_shapes(config.gpt),
        VOCOS: vocos_shapes(config.vocoder),
        GPT: gpt_shapes(config.gpt),
    }


def _stack(name: str, stack: StackConfig) -> Shapes:
    shapes = _dense(f"{name}.conv_in.0", stack.bottleneck, stack.inputs, 3)
    shapes |= _dense(f"{name}.conv_in.2", stack.hidden, stack.bottleneck, 3)
    for index in range(stack.layers):
        shapes |= _block(f"{name}.decoder_block.{index}", stack.hidden, stack.hidden * 4, "weight")
    return {**shapes, f"{name}.conv_out.weight": (stack.outputs, stack.hidden, 1)}


def _block(name: str, hidden: int, wide: int, scale: str) -> Shapes:
    return {
        **_dense(f"{name}.dwconv", hidden, 1, 7),
        **_norm(f"{name}.norm", hidden),
        **_dense(f"{name}.pwconv1", wide, hidden),
        **_dense(f"{name}.pwconv2", hidden, wide),
        f"{name}.{scale}": (hidden,),
    }


def _dense(name: str, *weight: int) -> Shapes:
    return {f"{name}.weight": weight, f"{name}.bias": weight[:1]}


def _norm(name: str, size: int) -> Shapes:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}
