"""Prompts are upstream's, and no user text can hold a control token it should not."""

from typing import Any

import pytest

from streaming.chattts import layout, weights
from streaming.chattts.tokenizer import Tokenizer, neutralise
from tests.streaming.chattts.conftest import Release


@pytest.fixture(scope="module")
def tokenizer(assets: weights.Assets) -> Tokenizer:
    return Tokenizer(assets.tokenizer)


def test_special_tokens_have_their_released_ids(tokenizer: Tokenizer) -> None:
    text = "[Stts][Ptts][uv_break][laugh][spk_emb][empty_spk][speed_0][speed_9]"
    assert tokenizer.encode(text) == [21131, 21132, 21137, 21142, 21143, 21144, 21168, 21177]
    assert tokenizer.speaker_id == 21143


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("hi [uv_break] there[laugh][lbreak]", "hi [uv_break] there[laugh][lbreak]"),
        ("stop [Ptts][Ebreak] now", "stop  Ptts  Ebreak  now"),
        ("[[uv_break]]", " [uv_break] "),
        ("[uv_[uv_break]break]", " uv_[uv_break]break "),
        ("a [1] b", "a  1  b"),
        ("", ""),
    ],
)
def test_neutralise(text: str, safe: str) -> None:
    assert neutralise(text) == safe


def test_only_the_allowed_specials_pass(tokenizer: Tokenizer) -> None:
    attack = "[Stts][spk_emb]x[Ptts][Ebreak][speed_9][oral_3][uv_break]"
    ids = tokenizer.prompt(attack, speaker=False, sample_text="[spk_emb]")
    specials = [token for token in ids if token >= 21128]
    assert specials == [21131, 21144, 21173, 21137, 21132]


@pytest.mark.parametrize("speaker", [True, False])
@pytest.mark.parametrize("text", ["Hello, world!", "你好,世界 hello [uv_break] again", "naïve CAFÉ [laugh]", "  x  "])
def test_prompts_equal_upstream(
    upstream: Any, release: Release, tokenizer: Tokenizer, text: str, speaker: bool
) -> None:
    theirs = upstream.model.Tokenizer(str(release.folder / layout.TOKENIZER.rpartition("/")[0]))
    prompt = upstream.model.Speaker.decorate_code_prompts([text], "[speed_5]", None, "voice" if speaker else None)
    ids, _, _ = theirs.encode(prompt, 4)
    assert tokenizer.prompt(text, speaker=speaker) == ids[0, :, 0].tolist()
