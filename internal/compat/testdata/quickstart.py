import asyncio
async def main():
    from tandem_client import TandemClient
    async with TandemClient(base_url="http://localhost:39731", token="...") as client:
        session_id = await client.sessions.create(title="My agent")
        run = await client.sessions.prompt_async(session_id, "Summarize README.md")
        async for event in client.stream(session_id, run.run_id):
            if event.type == "session.response":
                print(event.properties.get("delta", ""), end="", flush=True)
asyncio.run(main())
