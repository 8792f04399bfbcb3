"""From text deltas to segments an engine can speak. No torch, no network."""
