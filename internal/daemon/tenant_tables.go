package daemon

// tenantTables is the one list of what a tenant has in the database, by what it is of. What is counted, exported and erased of a tenant is
// read here; a table with a column tenant that is not here fails TestEveryTableOfATenantIsListed. The journal is not deleted: see
// journal.Erase.
var tenantTables = []struct {
	of     string
	tables []string
}{
	{"actor", []string{"actor"}},
	{"approval", []string{"approval", "approval_rule"}},
	{"artifact", []string{"artifact", "artifact_body", "artifact_number"}},
	{"assertion", []string{"assertion_key", "assertion_seen"}},
	{"automation", []string{"automation", "automation_delivery", "automation_event", "automation_hook", "automation_run",
		"automation_step", "automation_tick", "automation_trigger", "automation_version"}},
	{"board", []string{"board_need", "board_task"}},
	{"connector", []string{"connector"}},
	{"device", []string{"device", "device_challenge"}},
	{"gate", []string{"gate_call", "gate_intent"}},
	{"invite", []string{"invite", "invite_use"}},
	{"job", []string{"job", "job_evidence", "job_lock", "job_queue"}},
	{"journal elsewhere", []string{"journal_former"}},
	{"knowledge", []string{"knowledge", "knowledge_item", "knowledge_number", "knowledge_posting", "knowledge_read"}},
	{"login", []string{"login"}},
	{"memory", []string{"memory_number", "memory_place", "memory_posting", "memory_record", "memory_source", "memory_told",
		"memory_vector", "memory_version"}},
	{"notice", []string{"notice_way"}},
	{"oauth", []string{"oauth_client", "oauth_grant"}},
	{"forge", []string{"forge", "forge_pull"}},
	{"pack", []string{"pack"}},
	{"passkey", []string{"passkey", "passkey_challenge"}},
	{"peer", []string{"peer_attachment", "peer_entry", "peer_invite", "peer_name", "peer_outbox", "peer_piece", "peer_receipt",
		"peer_said", "peer_seat"}},
	{"pin", []string{"pin", "pin_try"}},
	{"policy", []string{"policy_grant", "policy_head", "policy_rules", "policy_version"}},
	{"recovery", []string{"recovery", "recovery_code"}},
	{"relay", []string{"relay", "relay_log", "relay_side"}},
	{"repo", []string{"repo_change", "repo_crossing", "repo_heard", "repo_lease", "repo_older", "repo_ref", "repo_served",
		"repo_told", "repo_workspace"}},
	{"resource", []string{"resource", "resource_fence"}},
	{"schedule", []string{"schedule"}},
	{"secret", []string{"secret"}},
	{"session", []string{"session", "session_aside", "session_base", "session_base_file", "session_call", "session_checkout",
		"session_child", "session_default", "session_event", "session_file", "session_folder", "session_limit", "session_look",
		"session_message", "session_part", "session_provider", "session_question", "session_spent", "session_turn",
		"session_unconfined", "session_undone", "session_used"}},
	{"signin", []string{"signin"}},
	{"source", []string{"source", "source_file", "source_number", "source_passage", "source_posting"}},
	{"space", []string{"space", "space_invite", "space_lease", "space_lease_above", "space_log", "space_member",
		"space_piece"}},
	{"team", []string{"team"}},
	{"terminal", []string{"terminal", "terminal_program", "terminal_skip"}},
	{"token", []string{"token"}},
	{"tunnel", []string{"tunnel"}},
}

// journalTables are those of a tenant's own journal.
var journalTables = []string{"journal_event", "journal_seal"}
