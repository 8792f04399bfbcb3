import pytest

pytest.importorskip("faster_whisper")
asr = pytest.importorskip("streaming.judge")


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("It's 8 o'clock, isn't it?", ["it's", "eight", "o'clock", "isn't", "it"]),
        ("Ready-made; 21.", ["ready", "made", "twenty", "one"]),
    ],
)
def test_english_units(text: str, units: list[str]) -> None:
    assert asr.english_units(text) == units


@pytest.mark.parametrize(
    ("text", "units"),
    [("早上8點。", ["早", "上", "八", "点"]), ("我用 Python！", ["我", "用", "python"])],
)
def test_chinese_units(text: str, units: list[str]) -> None:
    assert asr.chinese_units(text) == units


@pytest.mark.parametrize(
    ("said", "heard", "count"),
    [("abc", "abc", 0), ("abc", "", 3), ("", "ab", 2), ("abcd", "acxd", 2), ("ab", "ba", 2)],
)
def test_edits(said: str, heard: str, count: int) -> None:
    assert asr.edits(list(said), list(heard)) == count
