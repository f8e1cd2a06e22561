// Every method of memory, through the published client, unmodified, with the least that its documentation asks for.
import assert from "node:assert/strict";
const { TandemClient } = await import(process.env.SDK);
const baseUrl = process.env.TANDEM_URL;
const client = new TandemClient({ baseUrl, token: process.env.TANDEM_API_TOKEN });
const person = new TandemClient({ baseUrl, token: process.env.DECIDING_TOKEN });

const put = await client.memory.put({ text: "The team uses Rust for backend services.", tags: ["team", "Architecture"] });
assert(put.id.startsWith("mem_") && put.stored && put.state === "proposed", JSON.stringify(put));
// what nobody has promoted is not found
assert.deepEqual((await client.memory.search({ query: "backend services", limit: 5 })).results, []);
const law = (await client.memory.search({ query: "receipts", tags: ["law"] })).results;
assert(law.length === 1 && law[0].text === "Receipts are kept for ten years." && law[0].score > 0 && law[0].tags[0] === "law", JSON.stringify(law));
assert.deepEqual((await client.memory.list()).items.map((i) => i.content), ["Receipts are kept for ten years."]);
assert.deepEqual((await client.memory.list({ limit: 5, offset: 1 })).items, []);
assert.deepEqual((await client.memory.list({ q: "rust", limit: 5, offset: 0 })).items, []);
// a person who is present makes it live, by a terminal or the panel; no token is one
for (const c of [client, person]) {
  await assert.rejects(c.memory.promote({ id: put.id }), /403/);
  await assert.rejects(c.memory.delete(put.id), /403/);
}
await assert.rejects(client.memory.demote({ id: put.id, runId: "r" }), /403/);
await assert.rejects(person.memory.demote({ id: put.id }), /409/); // it is proposed already
await assert.rejects(client.memory.importPath({ path: "/srv/nobody-bound-it" }), /403/);
assert((await client.memory.importPath({ path: process.env.FOLDER })).ok);
const audit = await client.memory.audit({ limit: 20 });
assert(audit.count > 0 && audit.entries.some((e) => e.action === "memory.propose"), JSON.stringify(audit));
assert.equal((await person.memory.contextResolveUri("memory://global/" + put.id)).node.id, put.id);
assert.equal((await client.memory.contextResolveUri("memory://global/none")).node, undefined);
assert.equal((await client.memory.contextTree("memory://global")).tree.length, 1);
assert.deepEqual((await client.memory.contextTree("memory://project")).tree, []);
assert.equal((await person.memory.contextGenerateLayers(put.id)).layers[0].content, "The team uses Rust for backend services.");
assert.equal((await client.memory.contextDistill("ses_x", ["a"])).ok, false); // it is a turn, which somebody asks for
const all = Object.getOwnPropertyNames(Object.getPrototypeOf(client.memory)).filter((m) => m !== "constructor");
console.log(`memory ok: ${all.length} methods`);
