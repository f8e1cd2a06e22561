package panel

import (
	"time"

	"tandem/internal/panel/ui"
	"tandem/internal/unified"
)

// Sample data for the pages about work.

var sessionsCrumb = &ui.Crumb{Label: "Sessions", Href: "/panel/sessions"}

func sampleSessions() SessionsView {
	return SessionsView{Now: galleryNow, May: true, Programs: true, Default: "anthropic/claude-sonnet-4-5",
		Folders: []string{"/home/me/src/atlas"}, More: true, Rows: []SessionRow{
			{ID: "ses_01jcq2v7m3k9t4x8w5z6y7r2pd", Title: "Credits on invoices", State: "waiting", Driver: "model",
				Model: "anthropic/claude-sonnet-4-5", Folder: "/home/me/src/atlas", Owner: "owner", Changed: before(40 * time.Second)},
			{ID: "ses_01jcq2w1n8b5v6c7x9z0a2s3df", Title: "Why is the build slow on the second machine", State: "running", Driver: "model",
				Model: "openai/gpt-5", Folder: "/home/me/src/atlas", Owner: "builder", Changed: before(3 * time.Second)},
			{ID: "ses_01jcq2x9p4r7t6y8u1i2o3a5sg", Title: "Release notes \u202efor 0.4", State: "done", Driver: "model", Model: "local/echo-1",
				Owner: "owner", Changed: before(5 * time.Hour)},
			{ID: "ses_01jcq2x9p4r7t6y8u1i2o3a5sh", Title: "builder", State: "needs permission", Driver: "claude in a terminal", Held: "owner",
				Relay: true, Model: "claude/opus", Folder: "/home/me/src/atlas", Owner: "migrator", Changed: before(50 * time.Hour)},
		}}
}

const sampleMarkdown = "## What I found\n`Total()` adds up the lines and leaves the **credit** out. " +
	"I look at where credits are kept first.\n\n" +
	"1. read `credit.go`\n2. run the tests\n   - those of the package\n   - then *all*\n\n```go\nfunc (i Invoice) Total() Money " +
	"{\n\treturn sum - i.Credited\n}\n```\n\n" +
	"| case | got | want |\n|---|---|---|\n| one credit | 120 | 100 |\n\n> Credits are kept apart, " +
	"see [the notes](https://notes.example/credits). ![](https://evil.example/p.png)"

func sampleSession() SessionView {
	row := sampleSessions().Rows[0]
	edit := CallCard{Tool: "edit", Title: "Edit internal/billing/invoice.go", State: "asking", Ask: sampleAsks[1].ID,
		Args:  "{\n  \"path\": \"internal/billing/invoice.go\",\n  \"old\": \"return sum\",\n  \"new\": \"return sum - i.Credited\"\n}",
		Diffs: []FileDiff{{"internal/billing/invoice.go", unified.Diff(sampleBefore, sampleAfter)}}}
	shownBelow([]ChatEntry{{Call: &edit}}, edit.Ask)
	grep := CallCard{Tool: "grep", Title: "Search for Credited", State: "done", Args: "{\n  \"pattern\": \"Credited\"\n}",
		Result: "internal/billing/credit.go:14:\tCredited Money\ninternal/billing/credit_test.go:31:\tif got.Credited != 20 {"}
	bash := CallCard{Tool: "bash", Title: "go test ./internal/billing", State: "failed", Bad: true,
		Args:   "{\n  \"command\": \"go test ./internal/billing\"\n}",
		Result: "--- FAIL: TestTotal (0.00s)\n    invoice_test.go:22: got 120, want 100\nFAIL"}
	return SessionView{
		SessionRow: row, Now: galleryNow, Mode: "immediate", May: true, Open: 2,
		Entries: []ChatEntry{
			{Who: "you", Name: "owner", Kind: "text",
				Text: "Invoices with a credit show the wrong total.\nFind out why and mend it; keep the tests.", At: before(6 * time.Minute)},
			{Who: "agent", Name: row.Model, Kind: "reasoning", Text: "Total adds the lines and never looks at the credit.",
				At: before(5 * time.Minute)},
			{Who: "agent", Name: row.Model, Kind: "text", Text: sampleMarkdown, At: before(5 * time.Minute)},
			{Who: "agent", Name: row.Model, Kind: "call", Call: &grep, At: before(5 * time.Minute)},
			{Who: "agent", Name: row.Model, Kind: "call", Call: &bash, At: before(4 * time.Minute)},
			{Who: "agent", Name: row.Model, Kind: "text",
				Text: "The test shows it: 120 instead of 100. This edit takes the credit off <b>once</b>, in one place.\u200b",
				At:   before(time.Minute)},
			{Who: "agent", Name: row.Model, Kind: "call", Call: &edit, At: before(time.Minute)},
		},
		Asks: []AskRow{sampleAsks[1]}, Ask: answerable(),
		Asked: []QuestionView{{ID: "que_1", Parts: []QuestionPart{{Header: "Rounding", Text: "Should a credit be rounded before it is taken off?",
			Options: []OptionView{{"Before", "as the bank does it"}, {"After", "as the old program did it"}}}}}},
		Todos: []TodoRow{{"Find where the total is made", "completed"}, {"Take the credit off", "in_progress"}, {"Run all tests", "pending"},
			{"Rename the field", "cancelled"}},
		Facts: []ui.Pair{{Key: "Model", Value: row.Model, Mono: true}, {Key: "Driver", Value: "model"}, {Key: "Mode", Value: "immediate"},
			{Key: "Folder", Value: row.Folder, Mono: true}, {Key: "Turns", Value: "3"}, {Key: "Tokens", Value: "18230 in, 1904 out"},
			{Key: "Cost", Value: "0.0831 USD"}, {Key: "Session", Value: row.ID, Mono: true, Copy: true}},
	}
}

func sampleModels() ModelsView {
	return ModelsView{
		Now: galleryNow, Default: "anthropic/claude-sonnet-4-5", MayWrite: true, MayGrant: true, KeyPresent: true, PIN: true, Passkeys: 1,
		Providers: []ProviderRow{
			{ID: "local", Name: "Local echo", Wire: "local", Model: "echo-1", Keyless: true, Ready: true},
			{ID: "anthropic", Name: "Anthropic", Base: "https://api.anthropic.com", Wire: "anthropic", Model: "claude-sonnet-4-5",
				Env: "ANTHROPIC_API_KEY", Ready: true, Source: "store"},
			{ID: "openai", Name: "OpenAI", Base: "https://api.openai.com/v1", Wire: "responses", Model: "gpt-5", Env: "OPENAI_API_KEY", Ready: true,
				Source: "environment"},
			{ID: "openrouter", Name: "OpenRouter", Base: "https://openrouter.ai/api/v1", Wire: "chat", Env: "OPENROUTER_API_KEY"},
			{ID: "lab", Name: "lab", Base: "http://127.0.0.1:8080/v1", Wire: "chat", Model: "qwen3", Custom: true},
		},
		Folders: []FolderRow{{"/home/me/src/atlas", "owner", false, before(90 * time.Hour)},
			{"/home/me/papers", "owner", true, before(2 * time.Hour)}},
		MayForget: true, MaySet: true,
		Rules: []RuleRow{{"rul_1", "bash(command: go test; command: go vet)", "ses_01jcq2v7m3k9t4x8w5z6y7r2pd", "owner", before(-3 * time.Hour)},
			{"rul_2", "edit(path: /home/me/src/atlas/internal/**)", "its folder", "owner", before(-30 * time.Hour)}},
		Search: []SearchRow{{Key: "search.backend", Label: "Where to search", About: "auto takes what is configured.", Value: "auto", Set: true},
			{Key: "search.brave_key", Label: "Brave Search", About: "A key.", Secret: "search/brave", Sealed: true},
			{Key: "search.searxng_url", Label: "SearXNG", About: "The address of one.", Value: "http://search.lan"}},
		Tools: []ToolRow{{"bash", "Run a command in the sandbox.", true}, {"edit", "Replace a piece of a file.", true},
			{"grep", "Search files for a pattern.", false}, {"read", "Read a file.", false}},
	}
}

func sampleTasks() []TaskRow {
	return []TaskRow{
		{ID: "T-a1b2c3", Title: "Take the credit off the total", About: "Once, in one place.\nKeep the tests as they are.", Status: "in_progress",
			Priority: "critical", Holder: "swift-otter", Creator: "calm-heron", Version: 3, Labels: []string{"billing", "easy"},
			Parent: "T-12cd34", Lease: after(12 * time.Minute),
			Changed: before(2 * time.Minute)},
		{ID: "T-0d4e5f", Title: "Read how credits are kept", Status: "done", Priority: "high", Holder: "calm-heron", Creator: "calm-heron",
			Result: "In credit.go; never negative.", Version: 5, Changed: before(20 * time.Minute)},
		{ID: "T-77aa01", Title: "Tell the other teams about the new total", Status: "blocked", Priority: "medium", Creator: "swift-otter",
			Needs: []string{"T-a1b2c3"}, Version: 1, Changed: before(30 * time.Minute)},
		{ID: "T-77aa02", Title: "Measure the report on the big ledger", Status: "blocked", Priority: "low", Holder: "brave-lynx",
			Creator: "swift-otter", Reason: "The ledger is on a machine that is off until tomorrow.", Version: 4, Changed: before(50 * time.Minute)},
		{ID: "T-12cd34", Title: "Look for other places that add up lines <i>by hand</i>", Status: "open", Parts: []string{"T-a1b2c3"},
			Priority: "high", Creator: "calm-heron",
			Version: 1, Changed: before(31 * time.Minute)},
		{ID: "T-12cd35", Title: "Rename Open to Unpaid\u202e", Status: "open", Priority: "low", Creator: "calm-heron", Version: 1,
			Changed: before(32 * time.Minute)},
		{ID: "T-98fe76", Title: "Review the change", Status: "claimed", Priority: "medium", Holder: "calm-heron", Creator: "swift-otter",
			Needs: []string{"T-0d4e5f"}, Version: 2, Changed: before(3 * time.Minute)},
	}
}

func sampleBoard() BoardView {
	return BoardView{Now: galleryNow, Space: "release 0.4", Me: "swift-otter", Total: 7, Columns: boardColumns(sampleTasks()),
		Labels: []string{"billing", "easy"},
		Switch: sampleSwitch("board"), Peers: []string{"calm-heron", "brave-lynx"}}
}

func sampleTask() TaskView {
	t := sampleTasks()[0]
	t.Needs = []string{"T-0d4e5f"}
	t.Comments = []TaskComment{{By: "calm-heron", Text: "The old total is in the report of March, too.", At: before(5 * time.Minute)}}
	history := []ui.Moment{{Tone: ui.Quiet, Icon: "dot", Who: "swift-otter", Title: "began a task", At: before(2 * time.Minute)},
		{Tone: ui.Quiet, Icon: "dot", Who: "calm-heron", Title: "added a task", Detail: "title: Take the credit off", At: before(time.Hour)}}
	return TaskView{TaskRow: t, History: history, Titles: map[string]string{"T-0d4e5f": "Read how credits are kept"},
		Now: galleryNow, Me: "swift-otter", Peers: []string{"calm-heron"},
		Moves: []ui.Option{{Value: "open", Label: "Open"}, {Value: "done", Label: "Done"}}}
}

func sampleSwitch(to string) SpaceSwitch {
	return SpaceSwitch{To: to, Options: []ui.Option{{Value: "spc_1", Label: "fix-auth"}, {Value: "spc_2", Label: "release 0.4", Chosen: true}}}
}

func sampleSpace() SpaceView {
	return SpaceView{
		Switch: sampleSwitch("spaces"),
		Now:    galleryNow, In: true, Title: "release 0.4", Me: "swift-otter", Keeps: true, Health: "good",
		Phrase: "amber violin seven harbor quiet meadow",
		Invite: "VPA6KW", InviteEnds: after(24 * time.Hour),
		Peers: []PeerRow{
			{ID: "m_1", Name: "swift-otter", You: true, Keeps: true, Online: true, Seen: galleryNow},
			{ID: "m_2", Name: "calm-heron", Online: true, Seen: before(time.Second), Agent: "claude-code claude-sonnet-4-5",
				Folder: "/home/me/src/atlas", Servers: "grafana-prod, intandem, mcp-atlassian", Tools: "grafana-prod.query, kubectl",
				Works: []string{"T-98fe76 Review the change"}},
			{ID: "m_3", Name: "brave-lynx", Seen: before(3 * time.Hour), Agent: "codex gpt-5", Folder: "/srv/atlas"},
		},
		Moments: []ui.Moment{
			{Tone: ui.Quiet, Icon: "dot", Who: "calm-heron", Title: "claimed T-98fe76", At: before(3 * time.Minute)},
			{Tone: ui.Quiet, Icon: "dot", Who: "swift-otter", Title: "message", Detail: "Please look at the rounding.", At: before(9 * time.Minute)},
			{Tone: ui.Quiet, Icon: "dot", Who: "brave-lynx", Title: "joined", At: before(4 * time.Hour)},
		},
		Vars: []VarRow{{"datasource_uid", "P8E80F9AEF21F6940", "calm-heron"}, {"staging", "https://staging.example/atlas", "swift-otter"}},
		Findings: []FindingRow{{ID: "F-1", Severity: "high", Service: "billing", Summary: "Credits are rounded twice.", By: "calm-heron",
			Task: "T-98fe76", Advice: "Round once, at the end."}},
		Leases: []LeaseRow{{"internal/billing/credit.go", "calm-heron", after(40 * time.Minute), false},
			{"docs", "brave-lynx", after(20 * time.Minute), true}},
		Hosted: []HostedRow{{Space: "spc_01jcq2v7m3k9t4x8w5z6y7r2pd", State: "open", Term: 1, Epoch: 4, Entries: 212, Members: 3, Here: 2,
			Started: before(5 * time.Hour), Hash: "459f4ed172de20f7"}},
		Seats: []SeatRow{{Space: "sp_01jcq2v7m3k9t4x8w5z6y7r2pd", Title: "release 0.4", Me: "swift-otter", State: "active", Host: "this machine",
			Online: true}, {Space: "sp_01jbx0a1c3e", Title: "old work", Me: "calm-heron", State: "left", Host: "hub.example:39731"}},
	}
}

func sampleMail() MailView {
	return MailView{Now: galleryNow, Title: "release 0.4", Peers: []string{"calm-heron", "brave-lynx"}, Switch: sampleSwitch("messages"),
		Waiting: []string{"m_01jcq is queued: the host cannot be reached"}, Rows: []MailRow{
			{ID: "m_1", Type: "question", From: "calm-heron", To: "swift-otter",
				Text: "Before or after rounding?\nI read <b>before</b> in the old notes.", At: before(12 * time.Minute)},
			{ID: "m_2", Type: "context", From: "calm-heron", Text: "This is the place.", File: "internal/billing/credit.go",
				Snippet: "func (c Credit) Off(m Money) Money {\n\treturn m - c.Amount\n}", At: before(8 * time.Minute)},
			{ID: "m_3", Type: "chat", From: "brave-lynx", Text: "Back tomorrow.\u200b", New: true, At: before(time.Minute)},
			{ID: "m_4", Type: "chat", From: "swift-otter", To: "calm-heron, brave-lynx", Text: "After it.", Thread: "m_1", At: before(time.Minute),
				Far: []string{"brave-lynx: stored", "calm-heron: read"}},
		}}
}

func sampleHosted() HostedView {
	return HostedView{HostedRow: HostedRow{Space: "spc_01jcq2v7m3k9t4x8w5z6y7r2pd", State: "open", Term: 2, Epoch: 4, Entries: 212, Members: 3,
		Here: 2, Started: before(5 * time.Hour), Hash: "459f4ed172de20f7"}, Now: galleryNow, Tasks: []HostedTask{
		{ID: "T-98fe76", Status: "in_progress", Priority: "high", Holder: "mem_4ke3jqpepfgpxverfp6dtwkaf8",
			Creator: "mem_vqg190wvsxy32873arbqqp24t4", Version: 3, Changed: before(3 * time.Minute)},
		{ID: "T-12ab34", Status: "blocked", Priority: "medium", Needs: []string{"T-98fe76"}, Creator: "mem_vqg190wvsxy32873arbqqp24t4",
			Version: 1, Changed: before(time.Hour)},
	}}
}

func sampleConnectors() ConnectorsView {
	tools := []ConnectorTool{{"send", "Sends an e-mail. \u202eIt says so itself.", "{\n  \"type\": \"object\"\n}"},
		{"search", "Finds e-mails.", "{\n  \"type\": \"object\"\n}"}}
	return ConnectorsView{Now: galleryNow, May: true, Onward: "https://calendar.example/authorize?client_id=1&scope=read", PIN: true,
		Passkeys: 1, Rows: []ConnectorRow{
			{Name: "mail", Where: "https://mail.example/mcp", State: "quarantined", Digest: "5f1c0a77b1e34a7c9d11", By: "owner", Enabled: true,
				Tools: tools, Looked: before(3 * time.Minute)},
			{Name: "docs", Where: "https://docs.example/mcp", Header: "Authorization", State: "ready", By: "owner", Enabled: true, Tools: tools[1:],
				Looked: before(5 * time.Hour)},
			{Name: "calendar", Where: "https://calendar.example/mcp", State: "auth_required", Failure: "calendar wants a sign-in", By: "ann",
				Enabled: true, Looked: before(time.Hour)},
			{Name: "files", Where: "/usr/local/bin/mcp-files --quiet", Program: true, State: "failed", Failure: "it did not answer in time",
				By: "owner", Enabled: false, Looked: before(50 * time.Hour)},
		}}
}

// answerable is an ask as a conversation shows it.
func answerable() *AskView {
	a := sampleAsk()
	a.Back, a.Always = "/panel/sessions/ses_1", "edit(path: /home/me/src/atlas/internal/**)"
	return &a
}
