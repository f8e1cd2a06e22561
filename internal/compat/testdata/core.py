# Every method of the core set, through the published client.
import asyncio, os
import httpx
from tandem_client import TandemClient

url, folder = os.environ["TANDEM_URL"], os.environ["FOLDER"]


async def text_of(client, session, run):
    out, seen = "", []
    async for e in client.stream(session, run):
        seen.append(e.type)
        if e.type == "session.response":
            assert e.session_id == session and e.run_id == run, e
            out += e.properties["delta"]
    return out, seen


async def until(get):
    for _ in range(200):
        got = await get()
        if got:
            return got
        await asyncio.sleep(0.02)
    raise AssertionError("it never came")


async def refused(call):
    try:
        await call
    except httpx.HTTPStatusError:
        return
    raise AssertionError("it was not refused")


async def main():
    async with TandemClient(base_url=url, token=os.environ["TANDEM_API_TOKEN"]) as c, TandemClient(base_url=url, token=os.environ["DECIDING_TOKEN"]) as person:
        assert (await c.health()).ready
        assert "read" in await c.list_tool_ids()
        assert any(t.name == "bash" for t in await c.list_tools())
        assert "README.md" in (await c.execute_tool("list", {})).output

        sid = await c.sessions.create(title="core py", directory=folder, provider="fake", model="scripted-1")
        assert (await c.sessions.get(sid)).title == "core py"
        assert any(s.id == sid for s in (await c.sessions.list(q="core py")).sessions)
        assert (await c.sessions.update(sid, title="renamed py")).title == "renamed py"
        assert await c.sessions.messages(sid) == []
        assert await c.sessions.prompt_sync(sid, "[[say hello back]]") == "hello back"

        run = await c.sessions.prompt_async(sid, '[[tool read {"path":"README.md"}]] [[say all done]]')
        await asyncio.sleep(0.3)
        text, seen = await text_of(c, sid, run.run_id)
        assert text == "all done" and seen.count("session.run.finished") == 1 and "run.completed" in seen, (text, seen)
        assert any(e.type == "run.completed" for e in await c.run_events(run.run_id))

        run = await c.sessions.prompt_async(sid, '[[tool write {"path":"py.txt","content":"once"}]] [[say written]]')

        async def pending():
            return [r for r in (await c.permissions.list()).requests if r.status == "pending" and r.session_id == sid]

        ask = (await until(pending))[0]
        assert ask.tool == "write"
        await refused(c.permissions.reply(ask.id, "once"))
        await person.permissions.reply(ask.id, "once")
        text, _ = await text_of(c, sid, run.run_id)
        assert text == "written", text
        await c.permissions.list()  # also after an answer
        assert (await c.sessions.diff(sid)).files

        run = await c.sessions.prompt_async(sid, '[[tool question {"questions":[{"question":"Which?"}]}]] [[result]]')
        q = (await until(lambda: opened(c)))[0]
        await c.questions.reply(q.id, "the blue one")
        text, _ = await text_of(c, sid, run.run_id)
        assert "the blue one" in text, text

        run = await c.sessions.prompt_async(sid, "[[slow 30]]")
        await c.sessions.cancel_run(sid, run.run_id)
        _, seen = await text_of(c, sid, run.run_id)
        assert "run.cancelled" in seen
        assert (await c.sessions.active_run(sid)).active is None
        copy = await c.sessions.fork(sid)
        assert any(s.id == copy.id for s in await c.sessions.children(sid))
        await c.sessions.revert(copy.id)
        await c.sessions.unrevert(copy.id)
        assert (await c.sessions.summarize(sid))["summary"]
        assert (await c.sessions.archive(copy.id)).archived
        await c.sessions.todos(sid)
        await c.sessions.abort(sid)
        await c.sessions.cancel(sid)
        await c.sessions.attach(copy.id, folder)
        await c.sessions.delete(copy.id)
        await refused(c.sessions.get(copy.id))

        catalog = await c.providers.catalog()
        assert "local" in catalog.connected
        assert (await c.providers.config()).default == "local"
        assert (await c.providers.auth_status())["local"]["connected"]

        await person.providers.set_api_key("openai", "sk-sdk-0123456789")
        assert (await c.providers.auth_status())["openai"]["connected"]
        await person.providers.set_defaults("fake", "scripted-1")
        assert (await c.providers.config()).default == "fake"
        await person.providers.set_defaults("local", "echo-1")

        await c.resources.put_key("project/py", {"a": 1})
        assert (await c.resources.get("project/py")).value == {"a": 1}
        assert (await c.resources.list(prefix="project/")).items
        await c.resources.delete_key("project/py")
        await person.mcp.add("docs", "http://127.0.0.1:1/mcp")
        assert (await c.mcp.list())["docs"]["connected"] is False
        assert await c.mcp.list_tools() == [] and await c.mcp.list_resources() == []
        await refused(person.mcp.connect("docs"))
        await person.mcp.set_enabled("docs", False)
        await person.mcp.delete("docs")
        assert await c.mcp.list() == {}

        await person.mcp.add("mailpy", os.environ["MAIL_URL"])
        wanted = await person.mcp.connect("mailpy")
        assert wanted["pendingAuth"] is True
        assert (await person.mcp.auth_callback("mailpy", await back(wanted["authorizationUrl"])))["ok"]
        assert (await c.mcp.list())["mailpy"]["state"] == "quarantined"
        assert 'name = "mailpy"' in await c.mcp.catalog_toml("mailpy")
        assert (await person.mcp.refresh("mailpy"))["count"] == 1
        await person.mcp.patch("mailpy", allowed_tools=["say"])
        await person.mcp.delete_auth("mailpy")
        assert (await c.mcp.list())["mailpy"]["state"] == "auth_required"
        again = await person.mcp.authenticate("mailpy")
        assert (await person.mcp.auth_callback("mailpy", await back(again["authorizationUrl"])))["ok"]
        begun = await person.mcp.auth("mailpy")
        assert begun["ok"]
        await person.mcp.disconnect("mailpy")
        await person.mcp.delete("mailpy")

        run = await c.sessions.prompt_async(sid, '[[tool bash {"command":"echo again"}]] [[tool bash {"command":"echo again and again"}]] [[say passed]]')
        ask = (await until(pending))[0]
        await refused(c.permissions.reply(ask.id, "always"))
        await person.permissions.reply(ask.id, "always")
        text, _ = await text_of(c, sid, run.run_id)
        assert text == "passed", text
        assert any(r["pattern"] == "bash(command: echo again)" and r["owner"] == "owner" for r in (await c.permissions.list()).rules)

        types = []

        async def listen():
            async for e in c.global_stream():
                types.append(e.type)
                if e.type == "session.run.finished":
                    return

        listening = asyncio.create_task(listen())
        await asyncio.sleep(0.3)
        await c.sessions.prompt_sync(sid, "[[say to everybody]]")
        await asyncio.wait_for(listening, 20)
        assert "run.completed" in types, types
    print("core set ok")


async def back(url):
    async with httpx.AsyncClient() as browser:
        res = await browser.get(url)
    return dict(httpx.URL(res.headers["location"]).params)


async def opened(c):
    return (await c.questions.list()).questions


asyncio.run(main())
