package agents

// Quiet are the variables that keep a program from talking by itself to others than its model: statistics, reports of errors, updates,
// downloads. Codex knows none; what it sends of itself is in the person's settings for it.
func Quiet(agent string) []string {
	switch agent {
	case ClaudeName:
		return []string{"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	case OpenCodeName:
		return []string{"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_AUTOUPDATE=1"}
	}
	return nil
}
