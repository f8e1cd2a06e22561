# Automations, routines and workflows through the published client, unmodified: those that are here answer in its shapes, and what makes
# or changes a definition says 501.
import asyncio, os
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


async def answered(call, status):
    """Tries an answer until it is not 409: while a run looks at its gate again, it waits at none."""
    for _ in range(300):
        try:
            await call()
            got = 200
        except httpx.HTTPStatusError as e:
            got = e.response.status_code
        if got != 409:
            assert got == status, got
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it never waits at its gate")


async def main():
    async with TandemClient(base_url=url, token=os.environ["TANDEM_API_TOKEN"]) as c, \
            TandemClient(base_url=url, token=os.environ["DECIDING_TOKEN"]) as person:
        v2 = c.automations_v2
        assert "gated" in str(await v2.list())
        assert "gated" in str(await v2.get("gated"))
        assert "run_" in str(await v2.run_now("gated"))
        runs = await v2.list_runs("gated")
        run = runs.runs[0].run_id
        for _ in range(600):
            if "awaiting_gate" in str((await v2.get_run(run)).model_dump()):
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("it never waits at its gate")
        assert "hook" in str(await v2.list_webhook_triggers("gated"))
        await refused(v2.create({"name": "x"}), 400)
        await refused(v2.update("gated", {}), 501)
        await refused(v2.resume("gated"), 501)
        for older in (c.routines, c.automations):
            all = await older.list()
            assert "gated" in str(all), all
            assert (await older.get_run(run)).status == "running"
            assert "markdown" in str(await older.list_artifacts(run))
            assert run in str(await older.list_runs())
            await older.history("gated")
            await answered(lambda: older.deny_run(run), 403)
        assert "gated" in str(await c.workflows.list())
        assert "gated" in str(await c.workflows.get("gated"))
        assert run in str(await c.workflows.list_runs())
        await refused(c.workflows.validate({}), 501)
        await answered(lambda: person.routines.deny_run(run, "no"), 200)
        for _ in range(600):
            if (await v2.get_run(run)).status == "cancelled":
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("it is never cancelled")
    print("automations ok")


asyncio.run(main())
