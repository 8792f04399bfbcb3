"""The player and the client as modules of somebody else's page."""

import numpy as np
import pytest
import soxr

from tests.web.browser import recorded
from tests.web.conftest import Visit
from tests.web.sound import RATE, assert_played, offset_of, spoken

SPEAK = """async ({texts, rate, sampleRate, codec}) => {
    const [{Player}, {Client}] = await Promise.all([import("./player.js"), import("./client.js")]);
    const player = new Player({rate, startMs: [3000, 3000]});
    const client = new Client({url: new URL("v1/stream", document.baseURI.replace("http", "ws")).href});
    await Promise.all([player.unlock(), client.connect()]);
    const speak = (text) => new Promise((resolve) => {
        let track;
        const context = client.context({codec, sample_rate: sampleRate}, {
            onopened: (o) => (track = player.track({codec, sampleRate: o.sample_rate, preSkip: o.pre_skip})),
            onaudio: ({payload, last}) => track.push(payload, {last}),
            onended: ({samples}) => {
                track.end(samples);
                track.done.then((done) => resolve({...done, samples}));
            },
        });
        context.send(text);
        context.end();
    });
    const done = await Promise.all(texts.map(speak));
    await new Promise((resolve) => setTimeout(resolve, 100));
    client.close();
    return done;
}"""


def test_two_contexts_play_at_once_and_apart(visit: Visit, url: str) -> None:
    page = visit()
    texts = ["The first of two voices.", "And this is the second of them, at the same time."]
    page.locator("header").click()
    done = page.evaluate(SPEAK, {"texts": texts, "rate": RATE, "codec": "opus"})
    for track, text in enumerate(texts):
        one = spoken(url, text)
        assert done[track] == {
            "state": "ended",
            "played": one.ended.samples,
            "underruns": 0,
            "samples": one.ended.samples,
        }
        assert_played(one.samples, recorded(page, track))
    both = [np.flatnonzero(recorded(page, track)) for track in (0, 1)]
    assert both[0][0] < both[1][-1] and both[1][0] < both[0][-1]


@pytest.mark.parametrize("rate", [44_100, 24_000])
def test_it_resamples_where_the_device_has_another_rate(visit: Visit, url: str, rate: int) -> None:
    page = visit()
    page.locator("header").click()
    text = "This goes to a device with another rate."
    (done,) = page.evaluate(SPEAK, {"texts": [text], "rate": rate, "codec": "opus"})
    one = spoken(url, text)
    assert done["played"] == pytest.approx(one.ended.samples, abs=1)
    expected = soxr.resample(one.samples, RATE, rate, quality="VHQ")
    recording = recorded(page)
    start = offset_of(expected, recording)
    assert np.corrcoef(expected, recording[start : start + len(expected)])[0, 1] > 0.999
    assert np.flatnonzero(recording)[-1] - start < len(expected) + 2


def test_pcm_at_the_device_s_rate_is_played_bit_by_bit(visit: Visit, url: str) -> None:
    page = visit()
    page.locator("header").click()
    (done,) = page.evaluate(
        SPEAK, {"texts": ["Not a bit is lost."], "rate": RATE, "codec": "pcm_f32le", "sampleRate": RATE}
    )
    assert done["state"] == "ended" and done["played"] == done["samples"]
    signal, recording = spoken(url, "Not a bit is lost.", codec="pcm_f32le", sample_rate=RATE).samples, recorded(page)
    start = offset_of(signal, recording)
    assert np.array_equal(recording[start : start + len(signal)], signal)


RESAMPLE = """async ({signal, from, to, cut}) => {
    const {Resampler} = await import("./resample.js");
    const resampler = new Resampler(from, to);
    const out = [];
    for (let at = 0; at < signal.length; at += cut) {
        out.push(...resampler.push(Float32Array.from(signal.slice(at, at + cut))));
    }
    out.push(...resampler.flush());
    return out;
}"""


@pytest.mark.parametrize(("source", "target"), [(48_000, 44_100), (24_000, 48_000), (48_000, 16_000)])
def test_the_resampler_gives_the_same_however_its_input_is_cut(visit: Visit, source: int, target: int) -> None:
    page = visit()
    time = np.arange(source // 10) / source
    signal = (0.5 * np.sin(2 * np.pi * 440 * time) + 0.2 * np.sin(2 * np.pi * 3000 * time)).tolist()
    cuts = [
        page.evaluate(RESAMPLE, {"signal": signal, "from": source, "to": target, "cut": n}) for n in (960, 97, 10**6)
    ]
    assert cuts[0] == cuts[1] == cuts[2]
    assert len(cuts[0]) == target // 10
    time = np.arange(target // 10) / target
    expected = 0.5 * np.sin(2 * np.pi * 440 * time) + 0.2 * np.sin(2 * np.pi * 3000 * time)
    inner = slice(100, -100)
    assert np.abs(np.array(cuts[0]) - expected)[inner].max() < 2e-3


TYPED = """async (values) => {
    const {TypedText} = await import("./writing.js");
    const typed = new TypedText();
    return values.map((value) => typed.take(value.replace("|", ""), {all: value.includes("|")}));
}"""


@pytest.mark.parametrize(
    ("values", "spoken_parts"),
    [
        (["H", "Hello", "Hello ", "Hello t", "Hello there."], ["", "", "Hello ", "", "there."]),
        (["Hello ", "Hell", "Hello", "Hello you "], ["Hello ", "", "", "o you "]),
        (["Hello you ", "Hello ", "Hello all "], ["Hello you ", "", "all "]),
        (["Hello you ", "Hallo you ", "Hallo you two "], ["Hello you ", "", "two "]),
        (["one two ", "one and two ", "one and two three|"], ["one two ", "", "three"]),
        (["3.5", "3.5 "], ["", "3.5 "]),
        (["早上", "早上好"], ["早上", "好"]),
    ],
)
def test_typing_is_spoken_by_settled_words(visit: Visit, values: list[str], spoken_parts: list[str]) -> None:
    assert visit().evaluate(TYPED, values) == spoken_parts


PIECES = "async (text) => (await import('./writing.js')).pieces(text)"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hello there,\nyou. ", ["Hello", " there,", "\nyou. "]),
        ("今天天气不错，OK吗？", ["今天", "天气", "不错，", "OK", "吗？"]),
        ("  ", ["  "]),
        ("", []),
    ],
)
def test_a_text_is_cut_as_models_cut_it(visit: Visit, text: str, parts: list[str]) -> None:
    assert visit().evaluate(PIECES, text) == parts


START = """async ({packets, after}) => {
    const {StartBuffer} = await import("./start_buffer.js");
    const buffer = new StartBuffer();
    for (const stretch of packets) {
        stretch.forEach((at, n) => buffer.arrived(20 * n, at));
        buffer.stretch();
    }
    for (let n = 0; n < after; n++) buffer.ranDry();
    return Math.round(buffer.ms);
}"""


@pytest.mark.parametrize(
    ("packets", "underruns", "start_ms"),
    [
        ([[0, 0, 0, 1]], 0, 60),  # ahead of time
        ([[0, 20, 140, 140]], 0, 145),  # one was 100 ms late
        ([[0, 20, 140, 140], [0, 1], [0, 1]], 0, 71),  # it forgets
        ([[0, 2000]], 0, 300),
        ([], 1, 140),
        ([], 9, 300),
    ],
)
def test_the_start_buffer_learns_from_lateness(
    visit: Visit, packets: list[list[int]], underruns: int, start_ms: int
) -> None:
    assert visit().evaluate(START, {"packets": packets, "after": underruns}) == start_ms
