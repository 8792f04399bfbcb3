"""What the ChatTTS package owns: the hashes of its release and the statistics of its speakers.

The files are read where the package lies. Importing the package would load transformers and torchaudio,
and nothing of it is needed to speak.
"""

import importlib.util
import json
from pathlib import Path
from types import ModuleType


def asset_hashes() -> dict[str, str]:
    """SHA-256 of every released file, by upstream's keys. Raises RuntimeError without the package."""
    found = json.loads((_package() / "res" / "sha256_map.json").read_text("utf-8"))
    return {str(key): str(value) for key, value in found.items()}


def speaker_statistics() -> str:
    """Standard deviation and mean of the speaker vectors: 1536 float16 in base16384."""
    return str(_config_module().Config().spk_stat)


def _package() -> Path:
    spec = importlib.util.find_spec("ChatTTS")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the package `chattts` is not installed; install the dependency group `chattts`")
    return Path(next(iter(spec.submodule_search_locations)))


def _config_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("chattts_config", _package() / "config" / "config.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("the installed `chattts` has no config/config.py; install 0.2.5")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
