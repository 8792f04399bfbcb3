"""Fit the planes of `kokoro_norms` to what the undivided model averages over some sentences. Takes minutes a voice.

python -m streaming.embedded.kokoro_fit FILE
"""

import sys

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from streaming.embedded import kokoro_graph as graph
from streaming.embedded import mandarin
from streaming.embedded.hibari_voice import HibariModel
from streaming.embedded.kokoro_model import Values, packaged_model
from streaming.embedded.kokoro_norms import features
from streaming.embedded.kokoro_windows import speech
from streaming.embedded.voices import STYLES

_CHINESE = """\
好。
是的。
可以的。
不行。
早上好！
对不起。
等一下。
当然了，
明白了。
再见！
好的。
没问题，马上就来。
您好，请问有什么可以帮您？
今天天气很好，我们一起去公园散步吧。
他从来没有见过这么大的雪，高兴得像个孩子一样。
会议改到下周三下午三点，请大家提前准备好材料。
这本书讲的是一个年轻人离开家乡寻找梦想的故事。
妈妈做的红烧肉最好吃。
火车晚点了四十分钟。
如果你有任何问题，可以随时联系我们的客服人员。
春天来了，花园里的花都开了，蜜蜂在花丛中飞来飞去。
请把声音调小一点。
我觉得这个方案还需要再讨论一下。
医生说他需要多休息，少熬夜，按时吃药。
城市的夜晚灯火通明，街上的人来来往往。
谢谢你的帮助！
科学家发现，海洋深处生活着许多人类从未见过的生物。
别着急，慢慢说。
你吃饭了吗？
这条路一直往前走，到第二个路口左转就到了。
""".splitlines()

_ENGLISH = """\
Yes.
Okay, great.
Good morning!
I see.
Well,
Of course.
Sure.
I will be right there in a minute.
The quick brown fox jumps over the lazy dog.
Could you please turn the volume down a little?
Our meeting has been moved to Wednesday afternoon, so please prepare your notes.
She had never seen so much snow, and she was as happy as a child.
Thank you very much for your help today.
Scientists have found creatures in the deep ocean that nobody had ever seen before.
No problem.
If you have any questions, feel free to contact our support team at any time.
""".splitlines()


def main() -> None:
    """Write the file."""
    (path,) = sys.argv[1:]
    model = packaged_model()
    names = graph.averages(onnx.load_from_string(model).graph)
    session = onnxruntime.InferenceSession(graph.averaging(model), providers=["CPUExecutionProvider"])
    utterances = _utterances()
    fitted: dict[str, NDArray[np.generic]] = {}
    with np.load(STYLES) as styles:
        for voice in styles.files:
            measured = [_measure(session, tokens, styles[voice], names) for tokens in utterances]
            fitted[voice] = _planes(measured)
    np.savez_compressed(path, **fitted)  # type: ignore[arg-type]


def _utterances() -> list[list[int]]:
    hibari = HibariModel()
    phonemes = [mandarin.phonemize(text) for text in _CHINESE]
    phonemes += [" ".join(hibari.phonemize(text)) for text in _ENGLISH]
    return [[hibari.vocabulary[phoneme] for phoneme in each if phoneme in hibari.vocabulary] for each in phonemes]


def _measure(
    session: onnxruntime.InferenceSession, tokens: list[int], style: Values, names: list[str]
) -> tuple[Values, Values]:
    """What the forecast goes by, and every average."""
    feed = {
        "tokens": np.array([[0, *tokens, 0]], np.int64),
        "style": style[len(tokens) - 1][None].astype(np.float32),
        "speed": np.ones(1, np.float32),
    }
    energy, *averages = session.run([graph.ENERGY, *names], feed)
    frames = energy.reshape(-1, 2).mean(axis=1)
    begin, end = speech(frames)
    return features(frames, 1 - (end - begin) / frames.size), np.concatenate([each.ravel() for each in averages])


def _planes(measured: list[tuple[Values, Values]]) -> NDArray[np.float16]:
    known, averages = (np.stack(each) for each in zip(*measured, strict=True))
    planes: NDArray[np.float64] = np.linalg.lstsq(known, averages, rcond=None)[0]
    return planes.astype(np.float16)


if __name__ == "__main__":
    main()
