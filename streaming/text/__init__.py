"""From text deltas to segments an engine can speak. No torch, no network.

The way of a delta, each stage in the file of its name:

    surrogates   halves of a pair joined
    clean        invisible characters and markup gone, tags and emphasis held back until they are certain
    segment      cut at a clause or a sentence (boundary: may it end here; words: where to cut a run-on)
    speak        per segment: emoji, lexicon, addresses, notation, numbers, words, names, by the rules in notation,
                 verbalise_en, wording_en and verbalise_zh and their tables; language says which ones
    alphabet     what the engine can read; the rest is reported as skipped

`mapped.Mapped` is the one value between the stages: text that knows the source of each of its characters.
`front.TextFront` is the whole of it for one context, `explain.explain` shows what each stage did.
"""
