// The seed's quick start, word for word but for the address and the token.
const { TandemClient } = await import(process.env.SDK);
const client = new TandemClient({ baseUrl: process.env.TANDEM_URL, token: process.env.TANDEM_API_TOKEN });
const sessionId = await client.sessions.create({ title: "My agent" });
const { runId } = await client.sessions.promptAsync(sessionId, "Summarize README.md");
for await (const event of client.stream(sessionId, runId)) {
if (event.type === "session.response") process.stdout.write(event.properties.delta ?? "");
}
