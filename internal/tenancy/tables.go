package tenancy

import (
	"slices"
)

// Tables is the one list of what a tenant has in the database, by what it is of. What is counted, exported and erased of a tenant is
// read here; a table with a column tenant that is not here fails TestEveryTableOfATenantIsListed. The journal is not deleted: see
// journal.Erase.
//
// What stays is counted and erased, and never goes to another server or comes from one. First, what houseRule keeps from every other
// tenant: this machine's folders, programs, repositories and doors. Those who work on such rows ask no tenant's policy, since only the
// house can have made them. Second, what was made for the doors of one server: sign-ins, devices, passkeys, invitations, programs that
// signed in, the keys of those who assert who calls.
var Tables = []struct {
	of     string
	tables []string // which a tenant takes along
	stays  []string // which it does not
}{
	{of: "actor", tables: []string{"actor"}},
	{of: "approval", tables: []string{"approval", "approval_rule"}},
	{of: "artifact", tables: []string{"artifact", "artifact_body", "artifact_number"}},
	{of: "assertion", stays: []string{"assertion_key", "assertion_narrowing", "assertion_seen"}},
	{of: "automation", tables: []string{"automation", "automation_delivery", "automation_event", "automation_hook",
		"automation_remembered", "automation_run", "automation_step", "automation_tick", "automation_trigger", "automation_version"}},
	{of: "board", tables: []string{"board_need", "board_task"}},
	{of: "connector", stays: []string{"connector"}},
	{of: "context", tables: []string{"context_checkpoint", "context_event", "context_item", "context_need", "context_run", "context_task"}},
	{of: "device", stays: []string{"device", "device_challenge"}},
	{of: "gate", tables: []string{"gate_call", "gate_intent"}},
	{of: "invite", stays: []string{"invite", "invite_use"}},
	{of: "job", stays: []string{"job", "job_evidence", "job_lock", "job_queue"}},
	{of: "journal elsewhere", tables: []string{"journal_former"}},
	{of: "knowledge", tables: []string{"knowledge", "knowledge_item", "knowledge_number", "knowledge_posting", "knowledge_read",
		"knowledge_words"}},
	{of: "login", stays: []string{"login"}},
	{of: "memory", tables: []string{"memory_number", "memory_place", "memory_posting", "memory_record", "memory_source",
		"memory_told", "memory_vector", "memory_version", "memory_words"}, stays: []string{"memory_model", "memory_pointed"}},
	{of: "notice", stays: []string{"notice_way"}},
	{of: "oauth", stays: []string{"oauth_client", "oauth_grant"}},
	{of: "forge", stays: []string{"forge", "forge_pull"}},
	{of: "pack", tables: []string{"pack"}},
	{of: "passkey", stays: []string{"passkey", "passkey_challenge"}},
	{of: "peer", tables: []string{"peer_attachment", "peer_log", "peer_mark", "peer_name", "peer_outbox", "peer_piece",
		"peer_receipt", "peer_said", "peer_seat"}, stays: []string{"peer_invite"}},
	{of: "pin", tables: []string{"pin", "pin_try"}},
	{of: "policy", tables: []string{"policy_grant", "policy_head", "policy_rules", "policy_version"}},
	{of: "recovery", stays: []string{"recovery", "recovery_code"}},
	{of: "relay", stays: []string{"relay", "relay_log", "relay_side"}},
	{of: "repo", stays: []string{"repo_change", "repo_crossing", "repo_heard", "repo_lease", "repo_older", "repo_ref", "repo_served",
		"repo_told", "repo_workspace"}},
	{of: "resource", tables: []string{"resource", "resource_fence"}},
	{of: "schedule", stays: []string{"schedule"}},
	{of: "secret", tables: []string{"secret"}},
	{of: "session", tables: []string{"session", "session_call", "session_child", "session_default", "session_event", "session_limit",
		"session_message", "session_part", "session_provider", "session_question", "session_spent", "session_turn", "session_used"},
		stays: []string{"session_aside", "session_base", "session_base_file", "session_checkout", "session_file", "session_folder",
			"session_look", "session_unconfined", "session_undone"}},
	{of: "signin", stays: []string{"signin"}},
	{of: "source", stays: []string{"source", "source_file", "source_number", "source_passage", "source_posting",
		"source_words"}},
	{of: "space", tables: []string{"space", "space_lease", "space_lease_above", "space_log", "space_member", "space_piece"},
		stays: []string{"space_invite"}}, // its plates are one server's: whoever knocks names no tenant
	{of: "team", stays: []string{"team"}},
	{of: "terminal", stays: []string{"terminal", "terminal_program", "terminal_skip"}},
	{of: "token", tables: []string{"token"}},
	{of: "tunnel", stays: []string{"tunnel"}},
}

// Listed are the tables of Tables, Carried those that a tenant takes along.
func Listed() (out []string) {
	for _, t := range Tables {
		out = slices.Concat(out, t.tables, t.stays)
	}
	return out
}

func Carried() (out []string) {
	for _, t := range Tables {
		out = append(out, t.tables...)
	}
	return out
}

// Keys are the tables whose ids are looked for without a tenant, shown to people, or paths: one that comes from elsewhere has the form of
// its kind (where it is named here) and is not here already in another tenant. Of the ids in SharedIDs the tenant is always asked, or
// several tenants have the same thing. A table with an id is in one of both: TestEveryIDOfATenantIsDecided.
var (
	Keys = map[string]string{"session": "ses", "session_turn": "turn", "space": "spc", "peer_seat": "seat",
		"automation_run": "run", "automation_hook": "whk", "approval": "", "approval_rule": "", "artifact": "", "automation_delivery": "",
		"automation_tick": "", "knowledge_item": "", "memory_record": "", "policy_grant": "", "session_question": "", "token": ""}
	SharedIDs = []string{"actor", "board_task", "context_checkpoint", "context_item", "context_run", "context_task",
		"memory_source", "memory_told", "memory_version", "peer_attachment", "peer_outbox",
		"session_call", "session_message", "session_provider", "space_member"}
)

// JournalTables are those of a tenant's own journal.
var JournalTables = []string{"journal_event", "journal_seal"}
