# Every method of memory, through the published client, unmodified, with the least that its documentation asks for.
import asyncio, inspect, os
import httpx
from tandem_client import TandemClient

url = os.environ["TANDEM_URL"]


async def refused(call, status):
    try:
        await call
    except httpx.HTTPStatusError as e:
        assert e.response.status_code == status, e.response.text
    else:
        raise AssertionError("it was not refused")


async def main():
    async with TandemClient(base_url=url, token=os.environ["TANDEM_API_TOKEN"]) as c, \
            TandemClient(base_url=url, token=os.environ["DECIDING_TOKEN"]) as person:
        put = await c.memory.put("The parsers are written by hand.", tags=["parsers"], source="sdk")
        assert put.id.startswith("mem_") and put.stored, put
        assert (await c.memory.search("parsers", limit=5, tags=["parsers"])).results == []
        assert (await c.memory.list(q="parsers", limit=5)).items == []
        assert [i.text for i in (await c.memory.list()).items] == ["Receipts are kept for ten years."]
        assert [r.tags for r in (await c.memory.search("receipts")).results] == [["law"]]
        for who in (c, person):
            await refused(who.memory.promote(put.id), 403)
            await refused(who.memory.delete(put.id), 403)
        await refused(c.memory.demote(put.id), 403)
        await refused(person.memory.demote(put.id, run_id="r"), 409)
        await refused(c.memory.import_path(path="/srv/nobody-bound-it"), 403)
        assert (await c.memory.import_path(path=os.environ["FOLDER"])).ok
        audit = await c.memory.audit(limit=20)
        assert any(e.action == "memory.propose" for e in audit.entries), audit
        assert (await person.memory.context_resolve_uri("memory://global/" + put.id))["node"]["id"] == put.id
        assert (await c.memory.context_tree("memory://global", max_depth=2))["tree"][0]["node"]["node_type"] == "memory"
        assert (await person.memory.context_generate_layers(put.id))["layers"][0]["content"] == "The parsers are written by hand."
        assert (await c.memory.context_distill("ses_x", ["a"]))["ok"] is False
        methods = [m for m, _ in inspect.getmembers(type(c.memory), inspect.iscoroutinefunction)]
        print(f"memory ok: {len(methods)} methods")


asyncio.run(main())
