# The seed's quick start, word for word but for the address and the token.
import asyncio, os
from tandem_client import TandemClient

async def main():
    async with TandemClient(base_url=os.environ["TANDEM_URL"], token=os.environ["TANDEM_API_TOKEN"]) as client:
        session_id = await client.sessions.create(title="My agent")
        run = await client.sessions.prompt_async(session_id, "Summarize README.md")
        async for event in client.stream(session_id, run.run_id):
            if event.type == "session.response":
                print(event.properties.get("delta", ""), end="", flush=True)

asyncio.run(main())
