"""A LiveKit agent that speaks with firstword: its ElevenLabs plugin, pointed at our server.

    python -m server
    python clients/examples/livekit_agent.py dev      # joins the rooms of the LiveKit server in LIVEKIT_URL

Needs `pip install "livekit-agents[elevenlabs,openai]"`. In an agent of your own only `speech` is new. The environment
says where to go: FIRSTWORD_URL, FIRSTWORD_KEY and FIRSTWORD_VOICE for the speech, OPENAI_BASE_URL, OPENAI_API_KEY and
OPENAI_MODEL for the model.
"""

import os

from livekit.agents import Agent, AgentSession, JobContext, WorkerOptions, cli
from livekit.plugins import elevenlabs, openai

INSTRUCTIONS = "You are speaking aloud. Answer in short spoken sentences, without lists or markup."


def speech() -> elevenlabs.TTS:
    """Our server in a LiveKit session. Raw PCM, so that nothing is encoded twice before it reaches the room."""
    url = os.environ.get("FIRSTWORD_URL", "http://127.0.0.1:8000")
    return elevenlabs.TTS(
        api_key=os.environ.get("FIRSTWORD_KEY", "none"),
        base_url=f"{url}/v1",
        voice_id=os.environ.get("FIRSTWORD_VOICE", "hibari"),
        model="eleven_flash_v2_5",
        encoding="pcm_24000",
    )


def session() -> AgentSession:
    """A model and a voice. Add a recogniser (`stt=`) and a voice detector (`vad=`) to be talked to."""
    model = openai.LLM(
        model=os.environ.get("OPENAI_MODEL", "llama3.2"),
        base_url=os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"),
        api_key=os.environ.get("OPENAI_API_KEY", "none"),
    )
    return AgentSession(llm=model, tts=speech())


async def join(job: JobContext) -> None:
    """Speak in a room."""
    talk = session()
    await talk.start(Agent(instructions=INSTRUCTIONS), room=job.room)
    await talk.generate_reply(instructions="Greet the user.")


if __name__ == "__main__":
    cli.run_app(WorkerOptions(entrypoint_fnc=join))
