package space

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
)

func newInit(k *kit.Kit) *cobra.Command {
	var hooks, channel, all bool
	cmd := &cobra.Command{Use: "init [FOLDER]", Short: "Write .mcp.json, so that agents in this project can use spaces",
		Long: "Write the MCP server intandem into .mcp.json of a project. What else is in that file stays as it is. " +
			"With --hooks, Claude Code is also set up to be woken by messages while it is idle.",
		Example: "  tandem space init\n  tandem space init --hooks", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 1 {
				folder = args[0]
			}
			path := filepath.Join(folder, ".mcp.json")
			if err := addServer(path, program(), channel, all); err != nil {
				return err
			}
			fmt.Fprintf(k.Out, "%s: added the MCP server \"intandem\" (tandem mcp --only %s)\nStart your agent here, then tell it: "+
				"Create an intandem space called …\n", path, offered(all))
			if !hooks {
				return nil
			}
			path = filepath.Join(folder, ".claude", "settings.local.json")
			if err := addHooks(path, program()); err != nil {
				return err
			}
			fmt.Fprintf(k.Out, "%s: messages wake an idle agent\n", path)
			return nil
		}}
	cmd.Flags().BoolVar(&hooks, "hooks", false, "also let messages wake an idle Claude Code")
	cmd.Flags().BoolVar(&all, "all", false, "offer every tool of spaces and boards, not only the everyday ones")
	cmd.Flags().BoolVar(&channel, "channel", false,
		"also announce messages as channel notifications, for a Claude Code started with --channels")
	return cmd
}

// offered are the tools that an agent sees.
func offered(all bool) string {
	if all {
		return "intandem"
	}
	return "space"
}

// program is how an agent starts us: by name when that finds this program.
func program() string {
	self, err := os.Executable()
	if err != nil {
		return "tandem"
	}
	if found, err := exec.LookPath("tandem"); err == nil {
		a, errA := filepath.EvalSymlinks(found)
		b, errB := filepath.EvalSymlinks(self)
		if errA == nil && errB == nil && a == b {
			return "tandem"
		}
	}
	return self
}

// addServer puts our server into an .mcp.json and keeps the rest.
func addServer(path, command string, channel, all bool) error {
	args := []string{"mcp", "--only", offered(all)}
	if channel {
		args = append(args, "--channel")
	}
	return change(path, "mcpServers", func(servers map[string]json.RawMessage) error {
		ours, err := json.Marshal(map[string]any{"command": command, "args": args})
		servers["intandem"] = ours
		return err
	})
}

// addHooks puts our hooks beside those that are there. The one that waits runs
// in the background and wakes the agent when it ends with exit code 2.
func addHooks(path, command string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fault.New(fault.Unavailable, "space.init", "cannot make %s: %w", filepath.Dir(path), err)
	}
	line := command + " space hook"
	return change(path, "hooks", func(hooks map[string]json.RawMessage) error {
		for event, ours := range map[string]map[string]any{
			"SessionStart":     {"type": "command", "command": line, "asyncRewake": true, "timeout": 86400},
			"Stop":             {"type": "command", "command": line, "asyncRewake": true, "timeout": 86400},
			"UserPromptSubmit": {"type": "command", "command": line, "timeout": 10},
		} {
			var groups []json.RawMessage
			if old, ok := hooks[event]; ok {
				if strings.Contains(string(old), "space hook") {
					continue
				}
				if err := json.Unmarshal(old, &groups); err != nil {
					return err
				}
			}
			group, err := json.Marshal(map[string]any{"hooks": []any{ours}})
			if err != nil {
				return err
			}
			if hooks[event], err = json.Marshal(append(groups, group)); err != nil {
				return err
			}
		}
		return nil
	})
}

// change edits one object of a JSON file and keeps the rest. A file that is not
// what it should be is left as it is.
func change(path, key string, edit func(map[string]json.RawMessage) error) error {
	file, inner := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	bad := fault.New(fault.Invalid, "space.init", "%s is not a JSON object with %s; it was left as it is", path, key).
		WithNext("mend it, then run this again")
	if err == nil {
		if json.Unmarshal(data, &file) != nil {
			return bad
		}
		if old, ok := file[key]; ok && json.Unmarshal(old, &inner) != nil {
			return bad
		}
	}
	if edit(inner) != nil {
		return bad
	}
	if file[key], err = json.Marshal(inner); err != nil {
		return err
	}
	out, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tandem-*.json")
	if err != nil {
		return fault.New(fault.Unavailable, "space.init", "cannot write to %s: %w", filepath.Dir(path), err)
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(append(out, '\n')); err != nil {
		return errors.Join(err, tmp.Close())
	}
	return errors.Join(tmp.Chmod(0o644), tmp.Sync(), tmp.Close(), os.Rename(tmp.Name(), path))
}
