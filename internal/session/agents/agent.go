package agents

import (
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// Names are the programs that sessions can be opened with.
var Names = []string{ClaudeName, CodexName, OpenCodeName}

// Check refuses a program that is not known, and a model or an effort that it would not understand, and says what is accepted.
func Check(agent, model, effort string) error {
	checks := map[string][2]func(string) error{
		ClaudeName:   {CheckModel, CheckEffort},
		CodexName:    {CheckCodexModel, CheckCodexEffort},
		OpenCodeName: {CheckOpenCodeModel, CheckOpenCodeEffort},
	}
	if !slices.Contains(Names, agent) {
		return fault.New(fault.Invalid, "session.open", "agent %.40q is not accepted: use %s", agent, strings.Join(Names, ", "))
	}
	if err := checks[agent][0](model); err != nil {
		return err
	}
	return checks[agent][1](effort)
}

// StateFolder is where a program keeps its own state.
func StateFolder(agent string, env []string, home string) string {
	switch agent {
	case CodexName:
		return CodexFolder(env, home)
	case OpenCodeName:
		return filepath.Join(home, ".local", "share", "opencode")
	}
	return ConfigFolder(env, home)
}
